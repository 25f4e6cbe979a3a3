"""Positional encodings: published numbers and a plain loop."""

import math

import pytest
import torch
from transformers import ViTConfig as TheirConfig
from transformers import ViTMAEConfig
from transformers.models.vit.modeling_vit import ViTEmbeddings
from transformers.models.vit_mae.modeling_vit_mae import ViTMAEEmbeddings

from models.positional import (
    GridPositions,
    interpolate_grid,
    sincos_2d,
    sinusoidal,
)


@pytest.mark.parametrize(("dim", "base"), [(32, 10_000.0), (7, 10_000.0), (1, 10_000.0), (6, 97.0)])
def test_sinusoidal_equals_the_loop(dim: int, base: float) -> None:
    table = sinusoidal(11, dim, base=base)
    assert table.shape == (11, dim)
    for p in range(11):
        for column in range(dim):
            angle = p / base ** (2 * (column // 2) / dim)
            expected = math.cos(angle) if column % 2 else math.sin(angle)
            assert abs(float(table[p, column]) - expected) < 1e-7  # float32 below 1: 6e-8


# --- grids ------------------------------------------------------------------------------------


def test_sincos_2d_equals_the_one_mae_ships() -> None:
    config = ViTMAEConfig(
        hidden_size=28, num_attention_heads=7, intermediate_size=11, image_size=40, patch_size=8
    )
    embeddings = ViTMAEEmbeddings(config)
    embeddings.initialize_weights()
    theirs = embeddings.position_embeddings[0]
    assert (sincos_2d(5, 5, 28) - theirs[1:]).abs().max() < 1e-7


@pytest.mark.parametrize("new", [(5, 5), (7, 7), (3, 8), (1, 1), (11, 2)])
def test_interpolation_equals_transformers(new: tuple[int, int]) -> None:
    config = TheirConfig(
        hidden_size=14, num_attention_heads=7, intermediate_size=11, image_size=40, patch_size=8
    )
    theirs = ViTEmbeddings(config)
    patches = torch.zeros(1, 1 + new[0] * new[1], 14)
    table = theirs.position_embeddings[0].detach()
    expected = theirs.interpolate_pos_encoding(patches, 8 * new[0], 8 * new[1])[0].detach()
    assert interpolate_grid(table[1:], (5, 5), new).equal(expected[1:])


@pytest.mark.parametrize("kind", ["sinusoidal", "sincos2d", "learned", "none"])
def test_positions_of_a_grid_with_a_class_token(kind: str) -> None:
    positions = GridPositions(kind, (3, 5), 8, 1)
    for grid in ((3, 5), (2, 4)):
        count = 1 + grid[0] * grid[1]
        added = positions(torch.zeros(2, count, 8), grid)
        if kind == "sinusoidal":
            expected = sinusoidal(count, 8)
        elif kind == "sincos2d":
            expected = torch.cat([torch.zeros(1, 8), sincos_2d(*grid, 8)])
        elif kind == "learned":
            patches = interpolate_grid(positions.table[1:], (3, 5), grid)
            expected = torch.cat([positions.table[:1], patches])
        else:
            expected = torch.zeros(count, 8)
        assert added.equal(expected.expand(2, -1, -1))
        assert bool(positions.note(grid)) is (grid != (3, 5) and kind != "none")
