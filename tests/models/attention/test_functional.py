"""`attend` against one cell at a time, on both of its paths."""

from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor

import models.attention.functional
from models.attention import Dot, Mask, Pattern, attend
from models.edits import Temperature
from tests.models.cases import CASES, HEADS, KV_HEADS, Case, answer, inputs
from tests.models.devices import DEVICES

ROUNDING = 1e-6  # weights are at most 1 and float32 keeps 7 digits; sums are of 11 terms

every_case = pytest.mark.parametrize("name", CASES)
every_group = pytest.mark.parametrize("kv_heads", KV_HEADS)


def run(case: Case, kv_heads: int) -> tuple[Tensor, Pattern, Tensor]:
    """Values, pattern, and what the values were made of, one head per query head."""
    q, k, v = inputs(case, kv_heads)
    values, pattern = attend(q, k, v, **case.call)
    return values, pattern, v.repeat_interleave(HEADS // kv_heads, dim=1)


@every_group
@every_case
def test_weights_equal_the_loop(name: str, kv_heads: int) -> None:
    """And scores and values do, by the path that the recipe allows."""
    values, pattern, v = run(CASES[name], kv_heads)
    weights, scores, expected = pattern.weights(), pattern.scores(), answer(name, kv_heads)
    assert pattern.path == CASES[name].path
    assert weights.dtype == torch.float32
    assert (weights - expected.weights).abs().max() < ROUNDING
    assert (values - expected.values).abs().max() < ROUNDING * v.abs().max()
    assert scores.isneginf().equal(expected.scores.isneginf())
    shown = ~scores.isneginf()
    # Scores reach 100 here (bilinear): the same 7 digits, of the largest
    assert (scores - expected.scores)[shown].abs().max() < (
        ROUNDING * expected.scores[shown].abs().max()
    )


@pytest.mark.parametrize("size", [1, 1000])
@every_case
def test_row_blocks_change_nothing(name: str, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    whole, _, v = run(CASES[name], 2)
    monkeypatch.setattr(models.attention.functional, "PASS_BYTES", size)
    blocked, _, _ = run(CASES[name], 2)
    assert (blocked - whole).abs().max() < ROUNDING * v.abs().max()


@pytest.mark.parametrize(("name", "width"), [("cap", 1), ("additive", 17)])
@pytest.mark.parametrize(("rows", "sizes"), [(0.5, [1] * 5), (2, [2, 2, 1]), (2.9, [2, 2, 1])])
def test_blocks_of_rows_fit_into_the_limit(
    name: str, width: int, rows: float, sizes: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Four bytes for each weight of two items and all heads, or for each of its hidden units."""
    made, weights = [], Pattern.weights

    def noted(self: Pattern, **asked: Any) -> Tensor:
        made.append(len(asked["rows"]))
        return weights(self, **asked)

    monkeypatch.setattr(Pattern, "weights", noted)
    row = 4 * 2 * HEADS * 11 * width
    monkeypatch.setattr(models.attention.functional, "PASS_BYTES", int(rows * row))
    run(CASES[name], 2)
    assert made == sizes


def test_groups_of_heads_are_told_by_heads_alone() -> None:
    """Six heads on two, where there are six items and six keys."""
    q, k, v = (torch.randn(6, heads, 6, 5) for heads in (6, 2, 2))
    values, pattern = attend(q, k, v)
    k, v = (x.repeat_interleave(3, dim=1) for x in (k, v))
    assert pattern.path == "fused"
    assert (values - (q @ k.mT / 5**0.5).softmax(-1) @ v).abs().max() < ROUNDING * v.abs().max()


APART = torch.arange(293)[:, None] - torch.arange(293)
OPEN_ROWS = torch.rand(1, 1, 293, 1, generator=torch.Generator().manual_seed(8)) > 0.3
LONG = {  # a mask, the shape of a bias, and the cells that the mask hides
    "a bias": (Mask(), (1, 3, 293, 293), APART > 293),
    "causal, a bias": (Mask(causal=True), (1, 3, 293, 293), APART < 0),
    **{
        f"window, a bias {shape}": (Mask(window=17), shape, APART.abs() >= 17)
        for shape in [(1, 1, 1, 1), (1, 3, 293, 1), (1, 3, 1, 293), (1, 1, 293, 293)]
    },
    "window, whole rows": (
        Mask(window=17, dense=OPEN_ROWS),
        (1, 1, 1, 1),
        (APART.abs() >= 17) | ~OPEN_ROWS,
    ),
}


@pytest.mark.parametrize("name", LONG)
def test_blocks_of_rows_that_reach_only_some_keys(name: str) -> None:
    """They take that part of the bias; a key axis of 1 stands for every key."""
    mask, shape, hidden = LONG[name]
    dice = torch.Generator().manual_seed(7)
    q, k, v = (torch.randn(1, 3, 293, 5, generator=dice) for _ in range(3))
    bias = torch.randn(shape, generator=dice)
    values, pattern = attend(q, k, v, mask=mask, bias=bias)
    assert pattern.path == "fused"
    scores = (q @ k.mT / 5**0.5 + bias).masked_fill(hidden, -torch.inf)
    expected = scores.softmax(-1).nan_to_num()
    assert (values - expected @ v).abs().max() < ROUNDING * v.abs().max()
    for block in pattern.blocks():
        own = expected[0, block.heads, block.rows, block.keys]
        assert (block.weights - own).abs().max() < ROUNDING


@pytest.mark.parametrize(("dtype", "digit"), [(torch.float16, 2**-10), (torch.bfloat16, 2**-7)])
@every_case
def test_half_precision(name: str, dtype: torch.dtype, digit: float) -> None:
    """Weights are worked out in float32 from what was rounded; only values carry less."""
    case = CASES[name]
    q, k, v = (x.to(dtype) for x in inputs(case, 2))
    values, pattern = attend(q, k, v, **case.call)
    expected = case.slow(q.float(), k.float(), v.float())
    assert values.dtype == dtype
    assert pattern.weights().dtype == pattern.scores().dtype == torch.float32
    assert (pattern.weights() - expected.weights).abs().max() < ROUNDING
    # The fused kernel rounds the bias, a sharpened query, the weights and the sum to this dtype;
    # rounding a score of up to 10 shifts a weight by up to 5 digits
    assert (values - expected.values).abs().max() < 8 * digit * v.abs().max()


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", ["plain", "padding, causal", "temperature", "sink", "cut"])
def test_devices(name: str, device: str) -> None:
    case = CASES[name]
    q, k, v = (x.to(device) for x in inputs(case, 2))
    call = dict(case.call)
    score = call.get("score", Dot())
    if score.sink is not None:
        call["score"] = replace(score, sink=score.sink.to(device))
    mask = call.get("mask", Mask())
    if mask.padding is not None:
        call["mask"] = replace(mask, padding=mask.padding.to(device))
    values, pattern = attend(q, k, v, **call)
    expected = answer(name, 2)
    # A GPU adds up in another order, and its exponential is good to 2 units in the last place
    assert (pattern.weights().cpu() - expected.weights).abs().max() < 10 * ROUNDING
    assert (values.cpu() - expected.values).abs().max() < 10 * ROUNDING * v.abs().max()


@pytest.mark.parametrize("size", [1.0, 30.0])
@pytest.mark.parametrize("keys", [2, 127, 1031, 4096])
def test_rows_sum_to_one(keys: int, size: float) -> None:
    """Also where scores reach thousands and all weight falls on one key."""
    dice = torch.Generator().manual_seed(keys)
    q = size * torch.randn(1, 3, 7, 5, generator=dice)
    k = size * torch.randn(1, 3, keys, 5, generator=dice)
    _, pattern = attend(q, k, k)
    # Float32 rounds each of the 4,096 weights to 6e-8 of itself, and they add up to 1
    assert (pattern.weights().double().sum(-1) - 1).abs().max() < 1e-6


def test_pattern_shows_weights_before_dropout() -> None:
    q, k, v = inputs(CASES["plain"], HEADS)
    values, _ = attend(q, k, v)
    with torch.random.fork_rng():
        torch.manual_seed(3)
        dropped, pattern = attend(q, k, v, dropout=0.4)
    assert pattern.path == "explicit"
    assert (pattern.weights() - answer("plain", HEADS).weights).abs().max() < ROUNDING
    assert (dropped - values).abs().max() > 0.1


def test_hidden_keys_with_a_score_of_their_own() -> None:
    """softmax of the scores with the number in place of the hidden ones, after a temperature."""
    dice = torch.Generator().manual_seed(1)
    q, k, v = (torch.randn(2, 3, 11, 7, generator=dice) for _ in range(3))
    hidden = torch.rand(2, 3, 11, 11, generator=dice) > 0.6
    hidden[1, 2, 3] = True  # a row with no key
    mask = Mask(dense=~hidden, fill=-2.0)
    values, pattern = attend(q, k, v, mask=mask, edit=Temperature(0.5))
    expected = (q @ k.mT / 7**0.5 / 0.5).masked_fill(hidden, -2.0).softmax(-1)
    assert pattern.path == "explicit"
    assert (pattern.weights() - expected).abs().max() < ROUNDING
    assert (values - expected @ v).abs().max() < ROUNDING * v.abs().max()
