"""Pictures, pixel by pixel, as the processor of each model makes them."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from PIL import Image
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

from models.inputs.pictures import processed
from models.inputs.prepare import prepare_inputs
from models.preprocessing import (
    USUAL,
    Preprocessing,
    ProcessorSettings,
    changed,
    usual_preprocessing,
)
from models.run import CheckpointError, Model, load, trace
from models.vit import ViTConfig
from tests.models.architectures import BY_NAME
from viz.api.samples import PHOTOS

PHOTO = PHOTOS["china"]  # 640 × 427: neither square nor small
LEVEL = 1e-6  # float32 after scaling and normalising: a thousandth of one level in 255
SQUARE, EDGE = {"height": 28, "width": 28}, {"shortest_edge": 26}
CROP = {"crop_size": {"height": 20, "width": 20}, "do_center_crop": True}
TO_SIZE = {"size": {"height": 20, "width": 20}}

STRETCHED = "stretched from 640 × 427 pixels to 20 × 20"
MIDDLE = "from 640 × 427 pixels: its middle, read as 20 × 20"
# Architecture, processor class, settings, what is said.
CASES: dict[str, tuple[str, str, dict[str, Any], tuple[str, ...]]] = {
    "ViT": ("ViT", "ViTImageProcessor", TO_SIZE, (STRETCHED,)),
    "ViT, bicubic": ("ViT", "ViTImageProcessor", {**TO_SIZE, "resample": 3}, (STRETCHED,)),
    "ViT, not rescaled": (
        "ViT",
        "ViTImageProcessor",
        {**TO_SIZE, "do_rescale": False, "do_normalize": False},
        (STRETCHED,),
    ),
    "DeiT": ("DeiT", "DeiTImageProcessor", {"size": SQUARE, **CROP}, (MIDDLE,)),
    "DINOv2": ("DINOv2", "BitImageProcessor", {"size": EDGE, **CROP}, (MIDDLE,)),
    "DINOv2, not resized": ("DINOv2", "BitImageProcessor", {"do_resize": False, **CROP}, (MIDDLE,)),
    "SigLIP": ("SigLIP vision", "SiglipImageProcessor", TO_SIZE, (STRETCHED,)),
    "Swin": (
        "Swin",
        "ViTImageProcessor",
        {"size": {"height": 24, "width": 32}, "image_mean": [0.1, 0.2, 0.3]},
        ("stretched from 640 × 427 pixels to 32 × 24",),
    ),
    "YOLOS": (
        "YOLOS",
        "YolosImageProcessor",
        {"size": {"shortest_edge": 48, "longest_edge": 70}},
        ("stretched from 640 × 427 pixels to 64 × 32",),
    ),
    "CLIP": (
        "CLIP vision",
        "CLIPImageProcessor",
        {"size": {"shortest_edge": 20}, **CROP},
        (MIDDLE,),
    ),
    "ViT-MSN, as a feature extractor": ("ViT-MSN", "ViTFeatureExtractor", TO_SIZE, ()),
}


def built(name: str) -> Any:
    return BY_NAME[name].build()


def opened(name: str, folder: Path) -> tuple[Model, Any]:
    """A tiny model from a folder with its preprocessor_config.json, and its processor."""
    architecture, kind, settings, _ = CASES[name]
    built(architecture).save_pretrained(folder)
    if kind.endswith("FeatureExtractor"):
        written = {**settings, "feature_extractor_type": kind}
        processor = transformers.AutoImageProcessor.from_pretrained(_written(folder, written))
    else:
        processor = getattr(transformers, kind)(**settings)
        processor.save_pretrained(folder)
    return load(folder, door="transformers"), processor


def _written(folder: Path, settings: dict[str, Any]) -> Path:
    (folder / "preprocessor_config.json").write_text(json.dumps(settings), encoding="utf-8")
    return folder


def by(processor: Any, picture: Any = PHOTO) -> torch.Tensor:
    with Image.open(picture) as photo:
        return processor(photo.convert("RGB"), return_tensors="pt")["pixel_values"]


@pytest.mark.parametrize("name", CASES)
def test_the_model_reads_what_its_own_processor_makes(name: str, tmp_path: Path) -> None:
    """And the picture that is shown has the levels of it."""
    model, processor = opened(name, tmp_path)
    found, said = prepare_inputs(model, PHOTO), CASES[name][3]
    assert found.arguments["pixel_values"].equal(by(processor))
    assert found.notes[: len(said)] == said
    assert model.preprocessing is not None
    shown = processed(model.preprocessing, PHOTO).image
    assert shown is not None
    levels = torch.tensor(np.array(shown)).permute(2, 0, 1).double()
    if processor.do_rescale:
        levels *= processor.rescale_factor
    if processor.do_normalize:
        mean, std = (
            torch.tensor(x, dtype=torch.double)[:, None, None]
            for x in (processor.image_mean, processor.image_std)
        )
        levels = (levels - mean) / std
    off = (found.arguments["pixel_values"][0] - levels).abs().max()
    assert off < LEVEL * float(levels.abs().max())


def test_our_own_vit_reads_what_the_processor_makes(tmp_path: Path) -> None:
    """The preprocessing of another family, with our own network."""
    _, processor = opened("DeiT", tmp_path)
    built("ViT").save_pretrained(tmp_path)
    model = load(tmp_path)
    assert model.door == "own"
    found = trace(model, PHOTO)
    assert found.output.values.equal(trace(model, by(processor)).output.values)
    assert found.notes[:1] == CASES["DeiT"][3]


def test_a_processor_saved_inside_a_larger_one(tmp_path: Path) -> None:
    built("CLIP vision").save_pretrained(tmp_path)
    processor = transformers.CLIPImageProcessor(size={"shortest_edge": 24}, **CROP)
    nested = {"image_processor": processor.to_dict(), "processor_class": "CLIPProcessor"}
    (tmp_path / "processor_config.json").write_text(json.dumps(nested), encoding="utf-8")
    read = prepare_inputs(load(tmp_path), PHOTO).arguments["pixel_values"]
    assert read.equal(by(processor))


def test_several_pictures(tmp_path: Path) -> None:
    model, processor = opened("CLIP", tmp_path)
    paths = [*PHOTOS.values()]
    expected = torch.cat([by(processor, path) for path in paths])
    for given in ([Image.open(path) for path in paths], {"pixel_values": paths}):
        assert prepare_inputs(model, given).arguments["pixel_values"].equal(expected)
    assert len(trace(model, {"pixel_values": paths}).tokens) == len(paths)


def test_colours_become_the_channels_of_a_network() -> None:
    """Their mean where there is one; an untrained network reads 0 in those above three."""
    sizes: dict[str, Any] = {"image": 12, "patch": 4, "dim": 10, "depth": 1, "heads": 2}
    one, three, four = (load(ViTConfig(**sizes, channels=count)) for count in (1, 3, 4))
    grey, colours, more = (
        prepare_inputs(each, PHOTO).arguments["pixels"] for each in (one, three, four)
    )
    assert grey.equal(colours.mean(1, keepdim=True))
    assert more[:, :3].equal(colours)
    assert not more[:, 3].any()
    with pytest.raises(ValueError, match="takes 4 channels: pass pixels in a notebook"):
        prepare_inputs(replace(four, trained=True), PHOTO)


IMAGENET = {"image_mean": [0.485, 0.456, 0.406], "image_std": [0.229, 0.224, 0.225]}
EDGE_OF_20 = round(20 * 256 / 224)
USUALLY: dict[str, tuple[str, dict[str, Any]]] = {  # as the first checkpoints state it
    "BEiT": ("BeitImageProcessor", {**TO_SIZE, "resample": 3, "do_center_crop": False}),
    "CLIP vision": ("CLIPImageProcessor", {"size": {"shortest_edge": 20}, **CROP}),
    "DeiT": (
        "DeiTImageProcessor",
        {"size": {"height": EDGE_OF_20, "width": EDGE_OF_20}, **CROP, **IMAGENET},
    ),
    "DINOv2": (
        "BitImageProcessor",
        {"size": {"shortest_edge": EDGE_OF_20}, **CROP, **IMAGENET, "resample": 3},
    ),
    "ViT": ("ViTImageProcessor", TO_SIZE),
}


@pytest.mark.parametrize("name", USUALLY)
def test_what_is_usual_in_a_family_is_assumed_and_said(name: str, tmp_path: Path) -> None:
    """For a checkpoint without settings, opened from a folder or in memory."""
    network = built(name)
    network.save_pretrained(tmp_path)
    kind, settings = USUALLY[name]
    expected = by(getattr(transformers, f"{kind}Pil")(**settings))
    for model in (load(tmp_path), load(network), load(tmp_path, door="transformers")):
        assert model.preprocessing is not None
        assert not model.preprocessing.stated
        assert (processed(model.preprocessing, PHOTO).pixels - expected).abs().max() < LEVEL
        title = name.removesuffix(" vision")
        start = f"the model states no image preprocessing: what is usual for {title} is assumed"
        assert any(note.startswith(start) for note in trace(model, PHOTO).notes)


def test_a_family_without_a_usual_way_is_said_to_be_guessed() -> None:
    assert set(USUAL) <= set(CONFIG_MAPPING)
    found = usual_preprocessing(["no such family"], (20, 20))
    levels = [found.settings[f"image_{name}"] for name in ("mean", "std")]
    assert (levels, found.stated) == ([[0.5] * 3, [0.5] * 3], False)
    assert found.notes == ("the model states no image preprocessing: levels scaled to −1 to 1",)


def test_a_size_of_too_many_pixels_is_refused(tmp_path: Path) -> None:
    built("ViT").save_pretrained(tmp_path)
    _written(tmp_path, {"size": {"height": 20, "width": 20}, "pad_size": {"height": 10**6}})
    with pytest.raises(CheckpointError, match="pad_size: expected at most 10000 pixels a side"):
        load(tmp_path)


def test_settings_that_name_code_are_not_followed(tmp_path: Path) -> None:
    built("ViT").save_pretrained(tmp_path)
    settings = {**TO_SIZE, "auto_map": {"AutoImageProcessor": "own.Own"}}
    _written(tmp_path, {**settings, "image_processor_type": "Own"})
    (tmp_path / "own.py").write_text("raise SystemExit('run')", encoding="utf-8")
    found = trace(load(tmp_path), PHOTO)
    assert found.notes == ("stretched from 640 × 427 pixels to 20 × 20",)


def test_a_processor_that_does_not_run_is_said_so() -> None:
    alone = Preprocessing(None, ProcessorSettings("{}", "no such family"))
    with pytest.raises(ValueError, match="processor does not run here: pass pixel values"):
        processed(alone, PHOTO)


def test_another_size_is_read_by_the_same_processor(tmp_path: Path) -> None:
    """Twice the size is resized to twice the edge, and cropped to twice the middle."""
    model, _ = opened("DINOv2", tmp_path)
    twice: Any = {**CROP, "size": {"shortest_edge": 52}, "crop_size": {"height": 40, "width": 40}}
    expected = by(transformers.BitImageProcessor(**twice))
    larger = prepare_inputs(model.with_preprocessing(size=40), PHOTO)
    assert larger.arguments["pixel_values"].equal(expected)
    note = "from 640 × 427 pixels: its middle, read as 40 × 40"
    assert larger.notes[:2] == (note, "size changed here")
    own = load(ViTConfig(image=(12, 20), patch=4, dim=10, heads=2, head="mean"))
    pixels = prepare_inputs(own.with_preprocessing(size=24), PHOTO).arguments["pixels"]
    assert pixels.shape == (1, 3, 24, 40)


def test_a_size_that_no_image_can_have_is_refused() -> None:
    with pytest.raises(ValueError, match="size: expected 1 to 10000 pixels"):
        changed(Preprocessing((22, 26)), size=0)
    with pytest.raises(ValueError, match="decides the size"):
        changed(Preprocessing(None), size=3)
