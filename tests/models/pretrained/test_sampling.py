"""Sampling points of deformable attention, against a plain loop over the library's values."""

from functools import lru_cache, partial
from math import floor
from typing import Any

import pytest
import torch
import transformers
from torch import Tensor

from models.pretrained.detection import sampling_points
from models.run import as_model, trace
from tests.models.architectures import redraw
from tests.models.pretrained.test_detection import small_detr

RESNET: dict[str, Any] = {
    "embedding_size": 6,
    "hidden_sizes": [6, 10, 14, 18],
    "depths": [1, 1, 1, 1],
    "layer_type": "basic",
    "out_features": ["stage2", "stage3", "stage4"],
}
HYBRID: dict[str, Any] = {
    "encoder_hidden_dim": 16,
    "encoder_in_channels": [10, 14, 18],
    "encoder_layers": 1,
    "encoder_ffn_dim": 11,
    "encoder_attention_heads": 2,
    "d_model": 16,
    "num_queries": 5,
    "decoder_in_channels": [16, 16, 16],
    "decoder_ffn_dim": 11,
    "decoder_layers": 2,
    "decoder_attention_heads": 2,
    "num_denoising": 0,
    "hidden_expansion": 1.0,
}
PLAIN: dict[str, Any] = {
    "use_timm_backbone": False,
    "backbone": None,
    "d_model": 32,  # its projections have 32 groups
    "encoder_layers": 1,
    "decoder_layers": 2,
    "encoder_attention_heads": 2,
    "decoder_attention_heads": 2,
    "encoder_ffn_dim": 11,
    "decoder_ffn_dim": 11,
    "num_queries": 5,
    "num_feature_levels": 3,
}
KNOWN = ("DeformableDetr", "RTDetr")
OTHERS = {"RTDetrV2": "RTDetrV2MultiscaleDeformableAttention"}


@lru_cache
def tiny(name: str) -> tuple[Any, Tensor]:
    """A tiny detector, and a picture."""
    if name == "DeformableDetr":
        settings = {**PLAIN, "backbone_config": transformers.ResNetConfig(**RESNET)}
    else:
        settings = {**HYBRID, "backbone_config": transformers.RTDetrResNetConfig(**RESNET)}
    config = getattr(transformers, f"{name}Config")(**settings)
    torch.manual_seed(0)
    network = getattr(transformers, f"{name}Model")(config).eval()
    redraw(network)
    return as_model(network), torch.randn(1, 3, 64, 96)


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
    model, inputs = tiny(name)
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
    model, inputs = tiny(name)
    with pytest.raises(ValueError, match=f"samples in a way that is not known here: {kind}"):
        sampling_points(model, inputs)


@pytest.mark.parametrize("name", [*KNOWN, *OTHERS])
def test_a_trace_names_layers_whose_weights_are_over_no_positions(name: str) -> None:
    model, inputs = tiny(name)
    notes = trace(model, inputs).notes
    assert any("not shown: attention inside" in note and "eformable" in note for note in notes)


def test_a_model_without_such_layers_has_no_points(tmp_path: Any) -> None:
    model = as_model(small_detr(tmp_path))
    assert sampling_points(model, torch.zeros(1, 3, 32, 48)) == ()
