"""Window layers that compute their weights themselves: against loops over cells and the library."""

import importlib
from itertools import product
from typing import Any

import pytest
import torch
from torch import Tensor
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

from models.pretrained.windows import cosine_windows
from models.run import as_model, trace

ROUNDING = 1e-4  # cosines times a scale of up to 100, in float32, through four layers
SIZES: dict[str, Any] = {
    "image_size": 20,
    "patch_size": 2,
    "embed_dim": 6,
    "depths": [2, 2],
    "num_heads": [2, 3],
    "window_size": 3,
    "attention_probs_dropout_prob": 0.5,  # of no effect outside training
}
FAMILIES = {  # model type: file and class of the model
    "swinv2": ("swinv2.modeling_swinv2", "Swinv2Model"),
    "donut-swin": ("donut.modeling_donut_swin", "DonutSwinModel"),
}


def built(family: str, **settings: Any) -> Any:
    file, name = FAMILIES[family]
    kind = getattr(importlib.import_module(f"transformers.models.{file}"), name)
    torch.manual_seed(0)
    network = kind(CONFIG_MAPPING[family](**{**SIZES, **settings})).eval()
    with torch.no_grad():
        for parameter in network.parameters():  # tables of zeros would hide a wrong offset
            parameter.add_(0.3 * torch.randn_like(parameter))
    return network


def pixels(*shape: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize("family", ["swinv2", "donut-swin"])
def test_weights_and_gradients_are_those_of_the_library(family: str) -> None:
    """Of layer 1, whose windows are shifted by one: 6 × 9 cells in windows of 3 × 3, no filling."""
    network, one = built(family, depths=[2], num_heads=[2]), pixels(1, 3, 12, 18)
    found = trace(as_model(network), one, gradient=lambda output: output.values[0, :, 1].sum())
    gradient, weights = found.gradient(1), found.weights(1)
    layer = network.encoder.layers[0].blocks[1].attention.self
    kept: list[Tensor] = []

    def ask(_: Any, args: tuple, kwargs: dict[str, Any]) -> tuple[tuple, dict[str, Any]]:
        return args[:2], {**kwargs, "output_attentions": True}

    def keep(_: Any, args: tuple, output: tuple[Tensor, Tensor]) -> tuple[Tensor]:
        output[1].retain_grad()
        kept.append(output[1])
        return output[:1]

    layer.register_forward_pre_hook(ask, with_kwargs=True)
    layer.register_forward_hook(keep)
    network(one).last_hidden_state[0, :, 1].sum().backward()
    (theirs,) = kept
    assert theirs.grad is not None
    for window, cells in enumerate(windows(6, 9, 3, 1)):
        mine = gradient[:, cells][:, :, cells]
        assert (mine - theirs.grad[window]).abs().max() < 1e-4 * theirs.grad.abs().max()
        assert (weights[:, cells][:, :, cells] - theirs[window]).abs().max() < ROUNDING


def windows(rows: int, cols: int, size: int, shift: int) -> list[list[int]]:
    """The cells of each window of an image that the shift moves up and left."""
    return [
        [
            (top + down + shift) % rows * cols + (left + right + shift) % cols
            for down, right in product(range(size), repeat=2)
        ]
        for top, left in product(range(0, rows, size), range(0, cols, size))
    ]


def test_hidden_cells_keep_the_weight_that_the_library_leaves_them() -> None:
    """Each cell sees itself only, with the lowest score there is: what is hidden scores as much."""
    layer = built("swinv2").encoder.layers[0].blocks[0].attention.self
    with torch.no_grad():
        layer.logit_scale.fill_(10.0)  # beyond its limit of log 100
        layer.query.weight.copy_(-layer.key.weight)
        layer.query.bias.zero_()
        layer.key.bias = None
    states, mask = pixels(4, 9, 6), -100.0 * (1 - torch.eye(9)).repeat(2, 1, 1)
    with torch.no_grad():
        _, expected = layer(states, mask, output_attentions=True)
        found = cosine_windows(layer, states, mask).weights()
    assert (found - expected).abs().max() < ROUNDING
    assert expected.diagonal(dim1=-2, dim2=-1).min() < 0.9
