"""Boxes of object queries and sampling points, against their formulas, and models without any."""

from functools import lru_cache, partial
from math import floor
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from PIL import Image
from torch import Tensor

from models.pretrained.detection import detections, sampling_points
from models.run import as_model, load, trace
from tests.models.architectures import redraw

NAMES = {0: "cat", 1: "dog", 2: "<b>bird</b>"}
BACKBONE: dict[str, Any] = {
    "embedding_size": 6,
    "hidden_sizes": [6, 8, 10, 12],
    "depths": [1, 1, 1, 1],
    "layer_type": "basic",
    "out_features": ["stage4"],
}
SIZES: dict[str, Any] = {
    "use_timm_backbone": False,
    "backbone": None,
    "d_model": 12,
    "encoder_layers": 1,
    "decoder_layers": 2,
    "encoder_attention_heads": 2,
    "decoder_attention_heads": 3,
    "encoder_ffn_dim": 7,
    "decoder_ffn_dim": 7,
    "num_queries": 5,
}


def detr() -> tuple[Any, Any]:
    settings = {**SIZES, "backbone_config": transformers.ResNetConfig(**BACKBONE)}
    config = transformers.DetrConfig(**settings, id2label=NAMES)
    return transformers.DetrForObjectDetection(config).eval(), "DetrImageProcessor"


PICTURE = Image.effect_mandelbrot((96, 64), (-2, -1.2, 1, 1.2), 40).convert("RGB")


ENCODER: dict[str, Any] = {
    "hidden_size": 12,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 7,
}
SMALL = {**SIZES, "d_model": 16, "decoder_attention_heads": 2}


def deformable() -> tuple[Any, Any]:
    backbone = {**BACKBONE, "out_features": ["stage2", "stage3", "stage4"]}
    config = transformers.DeformableDetrConfig(
        backbone_config=transformers.ResNetConfig(**backbone),
        id2label=NAMES,
        **{**SMALL, "d_model": 32},
    )
    return transformers.DeformableDetrForObjectDetection(config), "DeformableDetrImageProcessor"


def rt_detr(kind: str = "RTDetr") -> tuple[Any, Any]:
    backbone = {**BACKBONE, "embedding_size": 8, "hidden_sizes": [8, 16, 16, 16]}
    backbone["out_features"] = ["stage2", "stage3", "stage4"]
    config = getattr(transformers, f"{kind}Config")(
        backbone_config=transformers.RTDetrResNetConfig(**backbone),
        encoder_hidden_dim=16,
        encoder_in_channels=[16] * 3,
        decoder_in_channels=[16] * 3,
        d_model=16,
        num_queries=5,
        encoder_ffn_dim=7,
        decoder_ffn_dim=7,
        decoder_layers=2,
        encoder_attention_heads=2,
        decoder_attention_heads=2,
        num_denoising=0,
        id2label=NAMES,
    )
    network = getattr(transformers, f"{kind}ForObjectDetection")(config)
    return network, "RTDetrImageProcessor"


def test_a_picture_whose_size_a_detector_does_not_take_is_refused_in_one_line(
    tmp_path: Path,
) -> None:
    """RT-DETR joins maps of halved sizes: sides that are not halved evenly do not fit."""
    network, _ = rt_detr()
    network.save_pretrained(tmp_path)
    pixels = torch.rand(1, 3, 96, 143)
    with pytest.raises(ValueError, match="does not run on this input: Sizes of tensors must"):
        trace(load(str(tmp_path)), pixels)


def yolos() -> tuple[Any, Any]:
    size = {"image_size": [64, 96], "patch_size": 16, "num_detection_tokens": 5}
    config = transformers.YolosConfig(**ENCODER, **size, id2label=NAMES)
    return transformers.YolosForObjectDetection(config), "YolosImageProcessor"


@pytest.mark.parametrize("make", [detr, deformable, rt_detr, yolos])
def test_boxes_and_names_of_every_query(make: Any, tmp_path: Path) -> None:
    """DETR and YOLOS score by a softmax whose last class is "no object"; the others rank the pairs
    of query and class by sigmoids."""
    torch.manual_seed(0)
    network, name = make()
    redraw(network.eval())
    network.save_pretrained(tmp_path)
    sides = {"shortest_edge": 64, "longest_edge": 96}
    size = sides if make in (detr, yolos) else {"height": 64, "width": 96}
    processor = getattr(transformers, name)(size=size)
    processor.save_pretrained(tmp_path)
    found = detections(load(str(tmp_path)), PICTURE)
    with torch.no_grad():
        out = network(**processor(PICTURE, return_tensors="pt"))
    logits = out.logits[0]
    shares = logits.softmax(-1)[:, :-1] if make in (detr, yolos) else logits.sigmoid()
    assert len(found) == 5
    for each, share, box in zip(found, shares, out.pred_boxes[0].tolist(), strict=True):
        x, y, wide, high = box
        assert each.name == NAMES[int(share.argmax())]
        assert each.score == pytest.approx(float(share.max()), rel=1e-4)
        expected = x - wide / 2, y - high / 2, x + wide / 2, y + high / 2
        assert each.box == pytest.approx(expected, abs=1e-5)


def test_models_without_boxes_or_a_processor() -> None:
    network, _ = detr()
    pixels = torch.zeros(1, 3, 64, 96)
    assert detections(as_model(network.model), pixels) == ()
    config = transformers.ViTConfig(**ENCODER, image_size=16, patch_size=8)
    classes = transformers.ViTForImageClassification(config).eval()
    assert detections(as_model(classes), torch.zeros(1, 3, 16, 16)) == ()
    with pytest.raises(ValueError, match="states no image processor"):
        detections(as_model(network), pixels)
    assert sampling_points(as_model(network), pixels) == ()


# --- sampling points, against a plain loop over the library's values ------------------------------

KNOWN = ("DeformableDetr", "RTDetr")
OTHERS = {"RTDetrV2": "RTDetrV2MultiscaleDeformableAttention"}


@lru_cache
def sampling(name: str) -> tuple[Any, Tensor]:
    """A tiny detector without its heads, and a picture."""
    torch.manual_seed(0)
    network, _ = deformable() if name == "DeformableDetr" else rt_detr(name)
    redraw(network.eval())
    return as_model(network.model), torch.randn(1, 3, 64, 96)


def sampled(level: Tensor, across: float, down: float) -> Tensor:
    """A vector between four cells of "row col dim", zeros outside."""
    high, wide, dim = level.shape
    x, y, total = across * wide - 0.5, down * high - 0.5, torch.zeros(dim)
    for row in (floor(y), floor(y) + 1):
        for col in (floor(x), floor(x) + 1):
            if 0 <= row < high and 0 <= col < wide:
                total = total + level[row, col] * (1 - abs(x - col)) * (1 - abs(y - row))
    return total


@pytest.mark.parametrize("name", KNOWN)
def test_points_and_weights_give_the_values_of_the_layer(name: str) -> None:
    model, inputs = sampling(name)
    seen: dict[str, tuple[Any, Tensor]] = {}

    def keep(path: str, module: Any, args: tuple, out: Tensor) -> None:
        seen[path] = (args, out)

    hooks = [
        part.register_forward_hook(partial(keep, path))
        for path, part in model.network.named_modules()
        if type(part).__name__ == "MultiScaleDeformableAttention"
    ]
    found = sampling_points(model, inputs)
    for hook in hooks:
        hook.remove()
    assert len(found) == len(hooks)
    for layer in found:
        sums = layer.weights.sum((-2, -1))
        torch.testing.assert_close(sums, torch.ones_like(sums))
        (values, _, shapes, *_), out = seen[f"{layer.module}.attn"]
        head, query = layer.weights.shape[2] - 1, layer.weights.shape[1] - 1
        first, total = 0, torch.zeros(values.shape[-1])
        for level, (high, wide) in enumerate(shapes):
            grid = values[0, first : first + high * wide, head].reshape(high, wide, -1)
            first += high * wide
            for point in range(layer.weights.shape[-1]):
                at = layer.places[0, query, head, level, point].tolist()
                total = total + layer.weights[0, query, head, level, point] * sampled(grid, *at)
        dim = values.shape[-1]
        expected = out[0, query, head * dim : (head + 1) * dim]
        torch.testing.assert_close(total, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(("name", "kind"), OTHERS.items())
def test_layers_that_sample_otherwise_are_refused_by_name(name: str, kind: str) -> None:
    model, inputs = sampling(name)
    with pytest.raises(ValueError, match=f"samples in a way that is not known here: {kind}"):
        sampling_points(model, inputs)


@pytest.mark.parametrize("name", [*KNOWN, *OTHERS])
def test_a_trace_names_layers_whose_weights_are_over_no_positions(name: str) -> None:
    model, inputs = sampling(name)
    notes = trace(model, inputs).notes
    assert any("not shown: attention inside" in note and "eformable" in note for note in notes)
