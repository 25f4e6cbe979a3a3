"""Window layers that compute their weights themselves: against loops over cells and the library."""

import importlib
from itertools import product
from typing import Any

import pytest
import torch
from torch import Tensor
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

from analysis.patches import grid_of, layer_cells
from models.pretrained.window_layers import cosine_windows
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


def global_weights(layer: Any, states: Tensor, rows: int, cols: int) -> Tensor:
    """Attention over a whole image of `rows × cols` cells, masked to the windows, cell by cell.

    Cells are padded to whole windows and moved up and left by the shift; two of them see each
    other in one window, unless the shift brought them there from opposite edges.
    """
    attention, size, shift = layer.attention.self, layer.window_size, layer.shift_size
    high, wide = -(-rows // size) * size, -(-cols // size) * size
    image = torch.zeros(high, wide, states.shape[-1])
    image[:rows, :cols] = states.view(rows, cols, -1)
    cells = list(product(range(high), range(wide)))
    heads = attention.num_attention_heads
    q, k = (
        made(image.flatten(0, 1)).unflatten(-1, (heads, -1)).transpose(0, 1)
        for made in (attention.query, attention.key)
    )
    cosine = torch.cosine_similarity(q[:, :, None], k[:, None], dim=-1)
    scores = cosine * attention.logit_scale.exp().clamp(max=100)
    hidden = torch.full((len(cells), len(cells)), -torch.inf)
    bias = torch.zeros(heads, len(cells), len(cells))
    offsets = {
        (a, b): 16
        * attention.continuous_position_bias_mlp(
            torch.tensor(
                [
                    (1 if d > 0 else -1) * torch.log2(torch.tensor(8 * abs(d) / (size - 1) + 1)) / 3
                    for d in (a, b)
                ]
            )
        ).sigmoid()
        for a, b in product(range(1 - size, size), repeat=2)
    }

    def moved(cell: tuple[int, int]) -> tuple[int, int]:
        return (cell[0] - shift) % high, (cell[1] - shift) % wide

    def side(cell: tuple[int, int]) -> tuple[bool, bool]:
        """Whether the shift wrapped it around, down and across."""
        return cell[0] < shift, cell[1] < shift

    for (i, one), (j, other) in product(enumerate(cells), repeat=2):
        (a, b), (c, d) = moved(one), moved(other)
        if (a // size, b // size) == (c // size, d // size) and side(one) == side(other):
            hidden[i, j] = 0.0
            bias[:, i, j] = offsets[a - c, b - d]
    return (scores + bias + hidden).softmax(-1).view(heads, high, wide, high, wide)


@pytest.mark.parametrize(("high", "wide"), [(12, 12), (10, 14)])
def test_swin_v2_is_a_masked_attention_over_the_whole_picture(high: int, wide: int) -> None:
    """Layers 0 and 1 are those of the first stage: the second has shifted windows."""
    network = built("swinv2")
    read: dict[int, tuple[Any, ...]] = {}
    layers = network.encoder.layers[0].blocks
    assert [layer.shift_size for layer in layers] == [0, 1]
    for number, layer in enumerate(layers):
        layer.register_forward_pre_hook(lambda _, args, n=number: read.update({n: args[:2]}))
    found = trace(as_model(network), pixels(1, 3, high, wide))
    rows, cols = high // 2, wide // 2
    for number, layer in enumerate(layers):
        states, dimensions = read[number]
        assert tuple(dimensions) == (rows, cols)
        with torch.no_grad():
            expected = global_weights(layer, states[0], rows, cols)
        own = expected[:, :rows, :cols, :rows, :cols].flatten(3).flatten(1, 2)
        site = found.sites[number]
        assert grid_of(found, site) == ((rows, cols), 0)
        assert (layer_cells(found, site, 1) - own).abs().max() < ROUNDING


@pytest.mark.parametrize("family", ["swinv2", "donut-swin"])
def test_gradients_are_those_of_the_library_s_weights(family: str) -> None:
    """Of layer 1, whose windows are shifted by one: 6 × 9 cells in windows of 3 × 3, no filling."""
    network, one = built(family, depths=[2], num_heads=[2]), pixels(1, 3, 12, 18)
    found = trace(as_model(network), one, gradient=lambda output: output.values[0, :, 1].sum())
    gradient = found.gradient(1)
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
