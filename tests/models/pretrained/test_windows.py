"""Attention within windows, merged into maps of whole items: against loops over its cells."""

from itertools import product

import pytest
import torch
from torch import Tensor

from models.attention import Mask, Pattern
from models.pretrained.windows import Blocks

BATCH, HEADS, DIM = 2, 3, 5
ROUNDING = 1e-6  # of weights in float32
IMAGES = [(4, 6, 2, 0), (4, 6, 2, 1), (3, 5, 2, 1), (5, 4, 3, 2), (7, 1, 3, 0)]


def noise(*shape: int, seed: int = 3) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize(("rows", "cols", "size", "shift"), IMAGES)
def test_windows_of_an_image(rows: int, cols: int, size: int, shift: int) -> None:
    """Slot (a, b) of window (r, c) lies at the cell that the shift moved there."""
    blocks = Blocks.of_image(rows, cols, size, shift)
    high, wide = -(-rows // size) * size, -(-cols // size) * size
    inside = list(product(range(rows), range(cols)))
    outside = [cell for cell in product(range(high), range(wide)) if cell not in inside]
    number = {cell: n for n, cell in enumerate([*inside, *outside])}
    found = [
        [
            number[(r + a + shift) % high, (c + b + shift) % wide]
            for a, b in product(range(size), range(size))
        ]
        for r, c in product(range(0, high, size), range(0, wide, size))
    ]
    assert blocks.positions.tolist() == found
    assert (blocks.tokens, blocks.grid) == (rows * cols, (rows, cols))
    assert blocks.outside == tuple(outside)
    assert blocks.count == len(found)


@pytest.mark.parametrize(("rows", "cols", "size", "shift"), IMAGES)
def test_merging_and_splitting(rows: int, cols: int, size: int, shift: int) -> None:
    blocks = Blocks.of_image(rows, cols, size, shift)
    x = noise(BATCH * blocks.count, HEADS, size**2, DIM)
    merged = blocks.merge(x)
    for item, window, slot in product(range(BATCH), range(blocks.count), range(size**2)):
        position = int(blocks.positions[window, slot])
        assert merged[item, :, position].equal(x[item * blocks.count + window, :, slot])
    again = blocks.split(merged[:, :, : blocks.tokens])
    own = (blocks.positions < blocks.tokens).repeat(BATCH, 1)[:, None, :, None]
    assert again.equal(torch.where(own, x, 0.0))


def test_more_heads_and_columns_than_tokens() -> None:
    blocks = Blocks.of_image(7, 1, 3, 0)
    x = noise(1, 11, 7, 13)
    assert blocks.merge(blocks.split(x))[:, :, :7].equal(x)


@pytest.mark.parametrize("shape", [(6, HEADS), (1, HEADS), (6, 1), (1, 1), None])
def test_a_query_sees_its_window(shape: tuple[int, int] | None) -> None:
    """An image of 3 × 5 in 6 windows of 2 × 2, shifted by one; the bias is the same for items."""
    blocks = Blocks.of_image(3, 5, 2, 1)
    q, k, v = (noise(BATCH * 6, HEADS, 4, DIM, seed=seed) for seed in range(3))
    table = None if shape is None else noise(*shape, 4, 4)
    bias = table
    if table is not None and shape is not None and shape[0] == 6:
        bias = table.repeat(BATCH, 1, 1, 1)
    apart = Pattern(q, k, v, bias=bias)
    merged, theirs = blocks.pattern(apart), apart.weights()
    assert (merged.queries, merged.keys) == (15, 24)
    expected = torch.zeros(BATCH, HEADS, 24, 24)
    for item, window, one, other in product(range(BATCH), range(6), range(4), range(4)):
        cell = (int(blocks.positions[window, slot]) for slot in (one, other))
        expected[(item, slice(None), *cell)] = theirs[item * 6 + window, :, one, other]
    assert (merged.weights() - expected[:, :, :15]).abs().max() < ROUNDING
    assert (merged.weights(2, [1, 14], item=1) - expected[1, 2, [1, 14]]).abs().max() < ROUNDING


def test_a_rule_that_cannot_be_merged() -> None:
    blocks = Blocks.of_image(4, 6, 2, 1)
    q = noise(6, HEADS, 4, DIM)
    seen = torch.ones(1, 1, 4, 4, dtype=torch.bool)
    rules = [Mask(causal=True), Mask(window=3), Mask(padding=torch.zeros(6, 4, dtype=torch.bool))]
    for mask in (*rules, Mask(dense=seen)):
        with pytest.raises(ValueError, match="expected windows without a mask"):
            blocks.pattern(Pattern(q, q, q, mask=mask))
