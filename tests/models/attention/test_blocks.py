"""Blocks of weights against the same weights at once, and against sums in float64."""

import math
from typing import Any

import pytest
import torch

from models.attention import Dot, Edge, Mask, attend
from models.attention.blocks import CACHE_BYTES, Block
from models.attention.pattern import Pattern
from tests.models.cases import BATCH, CASES, HEADS, KEYS, QUERIES, answer, inputs

ROUNDING = 1e-6  # weights are at most 1; blocks multiply in another order
TOKENS = 293


def pattern_of(name: str) -> Pattern:
    case = CASES[name]
    return attend(*inputs(case, 2), **case.call)[1]


def whole(pattern: Pattern, item: int = 0, max_bytes: int = CACHE_BYTES) -> torch.Tensor:
    """All weights of an item from its blocks, with each cell written once."""
    shape = pattern.heads, pattern.queries, pattern.keys
    found, times = torch.zeros(shape), torch.zeros(shape[:2])
    for block in pattern.blocks(max_bytes, item=item):
        found[block.heads, block.rows, block.keys] = block.weights
        times[block.heads, block.rows] += 1
    assert times.eq(1).all()
    return found


@pytest.mark.parametrize("name", CASES)
def test_blocks_are_the_weights(name: str) -> None:
    pattern, expected = pattern_of(name), answer(name, 2).weights
    for item in range(BATCH):
        close = {"rtol": 0, "atol": ROUNDING}
        torch.testing.assert_close(whole(pattern, item).double(), expected[item], **close)


@pytest.mark.parametrize("name", ["plain", "everything", "cap, sink, padding, causal"])
@pytest.mark.parametrize("max_bytes", [1, 4 * KEYS, 12 * KEYS, 4 * KEYS * QUERIES * HEADS])
def test_a_block_has_as_many_rows_and_heads_as_fit(name: str, max_bytes: int) -> None:
    blocks = [(b.heads, b.rows, b.keys) for b in pattern_of(name).blocks(max_bytes)]
    sizes = {(h.stop - h.start) * (r.stop - r.start) * (k.stop - k.start) for h, r, k in blocks}
    assert 4 * max(sizes) <= max(max_bytes, 4 * KEYS)
    rows = [(head, row) for h, r, _ in blocks for head in range(HEADS)[h] for row in range(5)[r]]
    assert sorted(rows) == [(head, row) for head in range(HEADS) for row in range(QUERIES)]


def random_pattern(mask: Mask, **more: Any) -> Pattern:
    generator = torch.Generator().manual_seed(5)
    q, k, v = (3 * torch.randn(1, 2, TOKENS, 7, generator=generator) for _ in range(3))
    return attend(q, k, v, mask=mask, **more)[1]


MASKS = {
    "none": Mask(),
    "causal": Mask(causal=True),
    "causal window": Mask(causal=True, window=41),
    "window": Mask(window=17),
    "padding": Mask(padding=(torch.arange(TOKENS) > 250)[None]),
    "causal, filled": Mask(causal=True, fill=-1e9),
    "causal, filled with −∞": Mask(causal=True, fill=-torch.inf),
    "window, hardly hidden": Mask(window=17, fill=-1.0),
    "cut in one head": Mask(cut=(Edge((1,), None, (2,)),)),
}


@pytest.mark.parametrize("name", MASKS)
def test_several_blocks_of_rows(name: str) -> None:
    pattern = random_pattern(MASKS[name])
    for max_bytes in (CACHE_BYTES, 4 * TOKENS * 128):  # all heads together, or one at a time
        found = whole(pattern, max_bytes=max_bytes)
        torch.testing.assert_close(found, pattern.weights(item=0), rtol=0, atol=ROUNDING)
    sizes = {block.rows.stop - block.rows.start for block in pattern.blocks()}
    assert sizes == {128, 37}


def test_rows_that_reach_no_key() -> None:
    """The window lies behind the last key; the block holds all of them, hidden."""
    q, k = torch.ones(1, 1, 1, 5), torch.ones(1, 1, 3, 5)
    values, pattern = attend(q, k, k, mask=Mask(causal=True, window=3, offset=5))
    (block,) = pattern.blocks()
    assert block.weights.tolist() == [[[0.0, 0.0, 0.0]]]
    assert block.entropy().tolist() == [[0.0]]
    assert not values.any()


@pytest.mark.parametrize("name", MASKS)
def test_entropy_of_rows(name: str) -> None:
    pattern = random_pattern(MASKS[name])
    weights = pattern.weights(item=0).double()
    for block in pattern.blocks():
        entropy = torch.special.entr(weights[block.heads, block.rows]).sum(-1)
        # the scores reach ±100, so that a total is rounded by 1e-5 in float32
        torch.testing.assert_close(block.entropy().double(), entropy, rtol=0, atol=3e-5)


def test_no_entropy_is_below_zero() -> None:
    """Scores of thousands are rounded by more than the entropy of such rows."""
    q = 30 * torch.randn(1, 2, TOKENS, 7, generator=torch.Generator().manual_seed(5))
    rounded, least = [], []
    for block in attend(q, q, q)[1].blocks():
        assert block.scores is not None
        totals = block.scores.amax(-1) - block.peaks.log()
        rounded.append((totals - (block.weights * block.scores).sum(-1)).min())
        least.append(block.entropy().min())
    assert min(rounded) < 0 == min(least)


def test_a_sink_has_no_plain_softmax() -> None:
    block: Block = next(iter(random_pattern(Mask(), score=Dot(sink=torch.zeros(2))).blocks()))
    assert block.scores is None
    entropy = torch.special.entr(block.weights.double()).sum(-1)
    torch.testing.assert_close(block.entropy().double(), entropy, rtol=0, atol=1e-5)


@pytest.mark.parametrize("fill", [-1e9, -1e31, torch.finfo(torch.float32).min, -torch.inf])
def test_a_row_whose_keys_are_all_filled(fill: float) -> None:
    """Equal scores give uniform weights, and only scores of −∞ none, however low the fill is."""
    hidden = torch.ones(1, TOKENS, dtype=torch.bool)
    pattern = random_pattern(Mask(padding=hidden, fill=fill))
    share = 0.0 if fill == -torch.inf else 1 / TOKENS
    torch.testing.assert_close(whole(pattern), torch.full((2, TOKENS, TOKENS), share))
    entropies = torch.cat([block.entropy().flatten() for block in pattern.blocks()])
    expected = 0.0 if fill == -torch.inf else math.log(TOKENS)
    torch.testing.assert_close(entropies, torch.full_like(entropies, expected))
