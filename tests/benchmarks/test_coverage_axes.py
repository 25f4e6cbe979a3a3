"""Every axis names the part of the input that its tokens are made of, by perturbation.

A model type for each order of tokens, and a sample of the others; benchmarks.coverage judges all.
"""

import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor

from benchmarks.coverage import axes, tiny
from benchmarks.coverage.axes import judged
from benchmarks.coverage.model_inputs import Inputs
from benchmarks.coverage.trying import running
from models.inputs.layout import image_layout
from models.run import trace
from models.trace import TokenAxis

PATCH, TEXT, TARGET, FRAME = ("patch",), ("text",), ("target",), ("frame",)
ORDERS = {
    "vit": (PATCH, "a class token, rows"),
    "yolos": (PATCH, "detections behind"),
    "deit": (PATCH, "class and distillation tokens"),
    "dinov2_with_registers": (PATCH, "registers"),
    "llama4_vision_model": (PATCH, "the class token behind"),
    "vit_mae": (PATCH, "some patches, in the order of the noise"),
    "lw_detr_vit": (PATCH, "windows throughout"),
    "lw_detr": (PATCH, "windows throughout, in a detector"),
    "sam2_hiera_det_model": (PATCH, "windows in some stages, padded in others"),
    "rf_detr_dinov2": (PATCH, "windows with class tokens of their own"),
    "sam3_vit_model": (PATCH, "windows in some layers"),
    "segformer": (PATCH, "cells and areas of four stages"),
    "videomae": (PATCH, "tubes of frames"),
    "idefics3": (PATCH + TEXT, "several images an item"),
    "qwen2_vl": (TEXT + PATCH, "packed images, in squares"),
    "glm4v_vision": (PATCH, "packed images alone"),
    "xclip": (PATCH + TEXT, "a message token behind"),
    "clip": (PATCH + TEXT, "two towers"),
    "audio-spectrogram-transformer": (FRAME, "bands and frames"),
    "wav2vec2": (FRAME, "frames of samples"),
    "fun_asr_nano_encoder": (FRAME, "frames that wide convolutions mix"),
    "pocket_tts_audio_tokenizer": (FRAME, "codes of several frames, samples behind a channel"),
    "pe_audio_encoder": (FRAME, "a class token before the frames"),
    "whisper": (FRAME + TARGET, "frames of features, hidden states of both towers"),
    "t5": (TEXT + TARGET, "text and target"),
    "gpt2": (TEXT, "text"),
}


TABLE = Path(__file__).parents[2] / "docs" / "coverage.md"
SECTIONS = ("Vision", "Audio")
EVERY, MOST_MODULES = 8, 5  # of the types that are exact; those with more layers are slow


def sampled() -> list[str]:
    """Every eighth small model type that reads images or sound, of docs/coverage.md."""
    sections = re.split(r"^## (.+)$", TABLE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    found = []
    for title, text in zip(sections[1::2], sections[2::2], strict=True):
        rows = re.findall(r"^\| (\S+) \| \w+ \| (\d+) \|", text, flags=re.MULTILINE)
        small = [name for name, modules in rows if int(modules) <= MOST_MODULES]
        found += small[::EVERY] if title in SECTIONS else []
    return found


def model_of(name: str) -> tuple[Any, Inputs]:
    model, _, inputs, _ = running(tiny.model_type(name))
    return model, inputs


@pytest.mark.parametrize("name", ORDERS)
@torch.no_grad()
def test_the_token_that_changes_is_the_one_named(name: str) -> None:
    verdict = judged(*model_of(name), most=5)
    assert verdict.wrong == ()
    assert verdict.kinds == ORDERS[name][0]
    assert verdict.axes > 0


def test_the_sample_is_not_too_small() -> None:
    assert len(sampled()) >= 18


@pytest.mark.long
@pytest.mark.parametrize("name", sampled())
@torch.no_grad()
def test_axes_of_every_eighth_type(name: str) -> None:
    """Nothing is named wrong, and where patches or frames are named, changes reach them."""
    model, inputs = model_of(name)
    verdict = judged(model, inputs, most=3)
    assert verdict.wrong == ()
    found = trace(model, inputs)
    labels = {label for site in found.sites for label in found.query_labels(site)}
    named = any(axes.PATCH.match(label) or axes.BAND.match(label) for label in labels)
    assert bool(named) == bool({"patch", "frame"} & set(verdict.kinds))


@torch.no_grad()
def test_patches_of_a_masked_autoencoder_that_hides_none() -> None:
    """They stay row by row, although the library shuffles them."""
    model, inputs = model_of("vit_mae")
    model.config.mask_ratio = 0.0
    first, second = (trace(model, inputs) for _ in range(2))
    assert first.grid == (4, 4)
    assert first.labels[:3] == ["[CLS]", "patch 0,0", "patch 0,1"]
    assert first.output.values.equal(second.output.values)
    assert judged(model, inputs, most=5).wrong == ()


@pytest.mark.parametrize("name", ["qwen2_vl_vision", "qwen2_5_vl_vision", "exaone4_5_vision"])
@torch.no_grad()
def test_patches_of_packed_videos_of_several_sizes(name: str) -> None:
    """The network's own row and column of each patch are those that the changed token has."""
    model, inputs = model_of(name)
    grid = torch.tensor([[2, 8, 12], [1, 4, 8]])
    width = inputs["hidden_states"].shape[1]
    packed = {"hidden_states": torch.randn(2 * 8 * 12 + 32, width), "grid_thw": grid}
    verdict = judged(model, packed, most=5)
    assert verdict.wrong == ()
    assert (verdict.kinds, verdict.axes) == (PATCH, 4)
    found = trace(model, packed)
    labels = found.query_labels(found.sites[0])
    squares = ["frame 1, patch 0,0", "frame 1, patch 0,1", "frame 1, patch 1,0"]
    assert labels[:3] == squares
    assert sorted(labels) == sorted(
        f"frame {frame}, patch {row},{col}"
        for frame in (1, 1 + model.config.temporal_patch_size)
        for row in range(8)
        for col in range(12)
    )
    assert found.query_labels(found.sites[0], item=1)[:5] == [
        f"patch {place}" for place in ("0,0", "0,1", "1,0", "1,1", "0,2")
    ]


@torch.no_grad()
def test_packed_patches_without_squares_are_numbered() -> None:
    """Their pixels have the shape of a small picture, which they are not."""
    found = trace(*model_of("paddleocr_vl_vision"))
    assert found.query_labels(found.sites[0]) == [f"position {place}" for place in range(16)]


@torch.no_grad()
def test_tiles_of_a_picture_are_named_and_not_drawn_as_all_of_it() -> None:
    model, inputs = model_of("idefics3")
    found = trace(model, inputs)
    site = next(site for site in found.sites if "vision" in str(site.module))
    assert found.items(site) == tuple(
        f"image {n}, tile {tile} of text {n}" for n in (0, 1) for tile in (0, 1)
    )
    assert found.query_labels(site)[5] == "patch 1,1"
    assert found.query_grid(site) is None
    assert "4 images or tiles, each traced by itself: views show the first" in found.notes


@pytest.mark.parametrize("name", ["vit", "audio-spectrogram-transformer"])
@torch.no_grad()
def test_a_wrong_order_is_noticed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Labels that are moved on by one."""

    def moved(axis: TokenAxis) -> TokenAxis:
        tokens = [
            replace(each, labels=(each.labels[-1], *each.labels[:-1])) for each in axis.tokens
        ]
        return replace(axis, tokens=tuple(tokens))

    def shifted(*args: Any, **options: Any) -> Any:
        found = trace(*args, **options)
        both = {site: (moved(rows), moved(keys)) for site, (rows, keys) in found.axes.items()}
        return replace(found, axes=both)

    model, inputs = model_of(name)
    monkeypatch.setattr(axes, "trace", shifted)
    verdict = judged(model, inputs, most=5)
    assert len(verdict.wrong) >= 4


@torch.no_grad()
def test_a_special_token_named_as_a_patch_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """No place of the image is the class token's, so that only a change of all of it shows it."""

    def renamed(*args: Any, **options: Any) -> list[axes.Axis]:
        return [
            replace(axis, labels=tuple(("patch 3,4", *each[1:]) for each in axis.labels))
            for axis in original(*args, **options)
        ]

    model, inputs = model_of("vit")
    original = axes.axes_of
    monkeypatch.setattr(axes, "axes_of", renamed)
    verdict = judged(model, inputs, most=5)
    assert any(fault.endswith("patch 3,4 holds none of the input") for fault in verdict.wrong)


@torch.no_grad()
def test_tiles_that_a_network_cuts_itself_are_no_patches_of_the_picture() -> None:
    pixels = torch.zeros(2, 3, 32, 32)
    whole = SimpleNamespace(model_type="vit", patch_size=8)
    assert image_layout(pixels, whole) is not None
    assert image_layout(pixels, SimpleNamespace(model_type="depth_pro", patch_size=8)) is None


def test_a_class_token_before_the_frames_of_a_sound() -> None:
    """The last state leaves it out: it has the frames alone."""
    model, inputs = model_of("pe_audio_encoder")
    found = trace(model, inputs, hidden=True)
    states = found.hidden_states[None]
    count = states.states[-1].shape[1]
    frames = [f"frame {index}" for index in range(count)]
    assert found.query_labels(found.sites[0]) == ["[CLS]", *frames]
    assert list(states.axes[-1].tokens[0].labels) == frames


def test_time_is_the_axis_that_is_neither_channel_nor_bins() -> None:
    config = SimpleNamespace(num_mel_bins=8, sub_configs={})
    assert axes.time_of(torch.zeros(2, 1, 40), {}, config) == 2
    assert axes.time_of(torch.zeros(2, 8, 40), {}, config) == 2
    assert axes.time_of(torch.zeros(2, 40, 8), {}, config) == 1


def test_several_places_change_beside_convolutions() -> None:
    """The named one must be near the largest change, and change with it."""
    labels = tuple(f"patch 0,{col}" for col in range(9))

    def judge(changes: Tensor) -> str:
        x = torch.ones(9, 4)
        before = axes.Axis("here", (labels,), None, (x,))
        after = axes.Axis("here", (labels,), None, (x + changes[:, None],))
        return axes.misplaced(before, after, 0, 4, {2, 3, 4, 5, 6})

    assert judge(torch.eye(9)[4]) == ""
    assert judge(torch.eye(9)[5]) == "of patch 0,4 changes patch 0,5"
    assert judge(torch.eye(9)[5] + 0.5 * torch.eye(9)[4]) == ""
    assert judge(torch.eye(9)[5] + 0.05 * torch.eye(9)[4]) == "of patch 0,4 changes patch 0,5"
    assert judge(torch.eye(9)[8] + 0.5 * torch.eye(9)[4]) == "of patch 0,4 changes patch 0,8"
    assert judge(torch.zeros(9)) == axes.UNREACHED
