"""Heads over a grid of patches, against plain loops; sizes are distinct primes."""

import statistics
from dataclasses import replace

import numpy as np
import pytest
import torch

from analysis.patches import (
    layer_cells,
    patch_sinks,
    pool_keys,
    representatives,
    resting_cells,
    shared_top,
)
from models.attention.pattern import Pattern
from models.trace import Trace
from tests.analysis.by_hand import trace_of

HEADS, GRID, PREFIX, HEAD_DIM = 3, (5, 7), 2, 11
TOKENS = PREFIX + 5 * 7


def traced() -> Trace:
    draw = torch.Generator().manual_seed(0)
    q, k, v = (torch.randn(1, HEADS, TOKENS, HEAD_DIM, generator=draw) for _ in range(3))
    return trace_of(Pattern(q, k, v), grid=GRID, prefix=PREFIX)


def test_a_cell_is_represented_by_the_patch_in_its_middle():
    # rows 0–1, 2–3, 4 and columns 0–1, 2–3, 4–5, 6: the middle is the later of two
    expected = [0, 1, *(2 + 7 * row + col for row in (1, 3, 4) for col in (1, 3, 5, 6))]
    assert representatives(GRID, PREFIX, 2).tolist() == expected
    assert representatives(GRID, PREFIX, 1).tolist() == list(range(TOKENS))


@pytest.mark.parametrize("factor", [1, 2, 3, 9])
def test_a_cell_of_keys_has_its_largest_weight(factor):
    weights = traced().weights(0)
    pooled = pool_keys(weights, GRID, PREFIX, factor)
    expected = [weights[..., i] for i in range(PREFIX)]
    for top in range(0, GRID[0], factor):
        for left in range(0, GRID[1], factor):
            inside = [
                PREFIX + row * GRID[1] + col
                for row in range(top, min(top + factor, GRID[0]))
                for col in range(left, min(left + factor, GRID[1]))
            ]
            expected.append(weights[..., inside].amax(-1))
    torch.testing.assert_close(pooled, torch.stack(expected, -1), rtol=0, atol=0)


def test_the_layer_is_its_representatives_over_cells():
    trace = traced()
    rows = representatives(GRID, PREFIX, 2)
    expected = pool_keys(trace.weights(0)[:, rows], GRID, PREFIX, 2)
    # the same numbers but for the order of float32 sums
    torch.testing.assert_close(layer_cells(trace, trace.sites[0], 2), expected, atol=1e-6, rtol=0)
    torch.testing.assert_close(layer_cells(trace, trace.sites[0], 1), trace.weights(0))


def in_one_patch(patch: int) -> Trace:
    """Queries and keys such that one patch receives far more weight than the others."""
    found = traced()
    (pattern,) = found.patterns
    k = pattern.k.clone()
    k[:, :, PREFIX + patch] += 3 * pattern.q.mean(2)
    q = pattern.q + 4 * pattern.q.mean(2, keepdim=True)
    return replace(found, patterns=(replace(pattern, q=q, k=3 * k),))


@pytest.mark.parametrize("outliers", [False, True])
def test_sinks_of_a_picture_are_those_of_plain_loops(outliers: bool) -> None:
    trace = in_one_patch(11)
    weights = trace.weights(0).double()
    received = weights[..., PREFIX:].mean((0, 1)).tolist()
    middle = statistics.median_low(received)
    spread = statistics.median_low(abs(each - middle) for each in received)
    above = [PREFIX + i for i, each in enumerate(received) if each > middle + 10 * spread]
    expected = [0, 1, *(above if outliers else [])]
    assert PREFIX + 11 in above
    found = patch_sinks(trace, trace.sites[0], outliers=outliers)
    assert found.keys == tuple(expected)
    for head in range(HEADS):
        given = [sum(row[key] for key in expected) for row in weights[head].tolist()]
        assert float(found.shares[head]) == pytest.approx(sum(given) / TOKENS, rel=1e-5)


@pytest.mark.parametrize("factor", [1, 2, 3])
def test_beside_a_sink_the_shared_scale_ends_at_a_percentile(factor: int) -> None:
    trace, cols = traced(), GRID[1]
    site, (pattern,) = trace.sites[0], trace.patterns
    pattern.q[:, 1, :, 0], pattern.k[:, 1, PREFIX + 11, 0] = 5.0, 10.0  # head 1 rests on patch 11
    cells = layer_cells(trace, site, factor)
    resting = resting_cells(cells, PREFIX).nonzero().flatten().tolist()
    means = np.mean(cells.double().numpy(), axis=1)
    assert resting == [
        cell for cell in range(PREFIX, cells.shape[2]) if any(head[cell] > 0.5 for head in means)
    ]
    row, col = divmod(11, cols)
    assert resting == [PREFIX + row // factor * -(-cols // factor) + col // factor]
    largest = trace.weights(site)[:, 0, PREFIX:].amax(0)
    expected = np.percentile(largest.numpy(), 99, method="lower")
    assert float(largest.argmax()) == 11
    assert shared_top(trace, site, largest, factor) == (pytest.approx(float(expected)), True)
    largest[11] = 0.0  # a token that looks elsewhere, or from which the sink is taken
    assert shared_top(trace, site, largest, factor) == (pytest.approx(float(largest.max())), False)
