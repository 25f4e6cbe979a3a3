"""The exercises on positions, layer normalisation and the residual block."""

from collections.abc import Callable
from math import pi
from typing import Any

import torch
from einops import rearrange
from torch import Tensor
from torch.nn import functional as F

from models.blocks import LayerNorm, standardised
from models.positional import sinusoidal
from notebooks.grading.exercise import Exercise, Mistake, random

TOKENS, DIM = 7, 5
GRID, NEW = 3, 5  # patches along a side, before and after


def positions(
    count: int,
    dim: int,
    *,
    first: int = 0,
    separate: bool = False,
    times: float = 1.0,
    base: float = 10000,
    unit: float = 1.0,
    swapped: bool = False,
    halves: bool = False,
    whole: bool = False,
) -> Tensor:
    """The table of sines and cosines, with a place for each mistake."""
    at = torch.arange(first, first + count, dtype=torch.float64)[:, None]
    even = torch.arange(0, dim, 2, dtype=torch.float64)
    odd = even + 1 if separate else even
    sines, cosines = (unit * at / base ** (times * each / dim) for each in (even, odd))
    waves = [sines.sin(), cosines.cos()]
    order = "pair row col -> row (pair col)" if halves else "pair row col -> row (col pair)"
    table = rearrange(waves[::-1] if swapped else waves, order).float()
    return table.trunc() if whole else table


def normed(
    x: Tensor,
    weight: Tensor,
    bias: Tensor,
    eps: float,
    *,
    axis: int | tuple[int, ...] = -1,
    correction: int = 0,
    below: Callable[[Tensor, float], Tensor] = lambda variance, eps: (variance + eps).sqrt(),
    centred: bool = True,
    scaled: bool = True,
    shifted: str = "after",
) -> Tensor:
    """Layer normalisation."""
    variance = x.var(axis, keepdim=True, correction=correction)
    mean = x.mean(axis, keepdim=True) if centred else 0.0
    out = (x - mean) / below(variance, eps)
    out = out + bias if shifted == "before" else out
    out = weight * out if scaled else out
    return out + bias if shifted == "after" else out


def block(
    x: Tensor,
    layer: Callable[[Tensor], Tensor],
    norm: Callable[[Tensor], Tensor],
    *,
    form: str,
) -> Tensor:
    """A residual connection and a norm, put together in every way that is seen."""
    if form == "post":
        return norm(x + layer(x))
    if form == "pre":
        return x + layer(norm(x))
    if form == "branch":
        return x + norm(layer(x))
    if form == "alone":
        return norm(layer(x))
    if form == "normed alone":
        return layer(norm(x))
    if form == "no norm":
        return x + layer(x)
    return norm(x) + layer(norm(x))


def post_norm(x: Tensor, layer: Any, norm: Any, *, form: str = "post") -> Tensor:
    """The block of the first transformer."""
    return block(x, layer, norm, form=form)


def pre_norm(x: Tensor, layer: Any, norm: Any, *, form: str = "pre") -> Tensor:
    """The block of most later ones."""
    return block(x, layer, norm, form=form)


def add_positions(x: Tensor, table: Tensor, *, first: int = 0, end: bool = False) -> Tensor:
    """Adds the positions of the tokens that there are."""
    count = x.shape[-2]
    return x + (table[-count:] if end else table[first : first + count])


def resample(
    table: Tensor,
    side: int,
    *,
    mode: str = "bilinear",
    corners: bool = False,
    turned: bool = False,
    last: bool = False,
    kept: bool = True,
) -> Tensor:
    """Learned positions of a square grid, stretched to another."""
    old = int((len(table) - 1) ** 0.5)
    grid = rearrange(table[1:], "(row col) dim -> 1 dim row col", row=old)
    corner = {} if mode == "nearest" else {"align_corners": corners}
    resized = F.interpolate(grid, size=(side, side), mode=mode, **corner)
    order = "1 dim row col -> (col row) dim" if turned else "1 dim row col -> (row col) dim"
    patches = rearrange(resized, order)
    if not kept:
        return patches
    return torch.cat([patches, table[:1]] if last else [table[:1], patches])


POSITIONS = (
    Mistake(
        "not interleaved",
        {"halves": True},
        "All sines stand in the left half and all cosines in the right: they take turns, sine in"
        " feature 2j and cosine in 2j + 1.",
    ),
    Mistake(
        "sine and cosine swapped",
        {"swapped": True},
        "Sine and cosine are swapped: sine comes first, in the even features.",
    ),
    Mistake(
        "an exponent of its own for the cosine",
        {"separate": True},
        "The cosine has another exponent than its sine: both of a pair use 2j / dim.",
    ),
    Mistake(
        "positions counted from 1",
        {"first": 1},
        "The first row is that of position 1: positions are counted from 0.",
    ),
    Mistake(
        "half the exponent",
        {"times": 0.5},
        "The exponent is j / dim: it is 2j / dim, where 2j is the even feature itself.",
    ),
    Mistake(
        "twice the exponent",
        {"times": 2.0},
        "The exponent is twice too large: it is 2j / dim, where 2j is the even feature itself.",
    ),
    Mistake(
        "frequency times position",
        {"times": -1.0},
        "The position is multiplied by 10000^(2j / dim): divide by it.",
    ),
    Mistake("another base", {"base": 1000}, "The base is 1000: it is 10000."),
    Mistake(
        "degrees", {"unit": pi / 180}, "The angles are taken for degrees: they are in radians."
    ),
    Mistake(
        "whole numbers",
        {"whole": True},
        "The table holds whole numbers: it needs floats (`torch.zeros(positions, dim)`).",
    ),
)
NORM = (
    Mistake(
        "variance over one less",
        {"correction": 1},
        "The variance is divided by dim − 1 (that is what `torch.var` does unless it is given"
        " `correction=0`): divide by dim.",
    ),
    Mistake(
        "ε outside the root",
        {"below": lambda variance, eps: variance.sqrt() + eps},
        "ε is added to the deviation: it is added to the variance, under the root.",
    ),
    Mistake(
        "no root",
        {"below": lambda variance, eps: variance + eps},
        "It is divided by the variance: divide by its root.",
    ),
    Mistake(
        "no ε",
        {"below": lambda variance, eps: variance.sqrt()},
        "ε is missing: it is added to the variance, under the root.",
    ),
    Mistake(
        "over the tokens",
        {"axis": 0},
        "Each feature is normed over the tokens, as batch normalisation does: norm each token over"
        " its features (the last axis).",
    ),
    Mistake(
        "over everything",
        {"axis": (-2, -1)},
        "Mean and variance are taken over the whole of x: each token has its own.",
    ),
    Mistake("not centred", {"centred": False}, "The mean is not subtracted before dividing."),
    Mistake(
        "no weight",
        {"scaled": False},
        "`weight` is not used: multiply by it, feature by feature, before the bias is added.",
    ),
    Mistake("no bias", {"shifted": ""}, "`bias` is not used: add it at the end."),
    Mistake(
        "bias before weight",
        {"shifted": "before"},
        "The bias is added before the weight is multiplied: weight first, then bias.",
    ),
)
_FORMS = {
    "post": "The norm stands after the sum, as in post-norm: here it comes before the layer.",
    "pre": "The norm stands before the layer, as in pre-norm: here it comes after the sum.",
    "branch": "Only the layer's result is normalised.",
    "alone": "The residual connection is missing: x is added to the layer's result.",
    "normed alone": "The residual connection is missing: x is added, and the norm's place differs.",
    "no norm": "There is no norm.",
    "stream": "The residual connection adds norm(x): it carries x itself.",
}
ADD = (
    Mistake("from 1", {"first": 1}, "The first token gets position 1: positions begin at 0."),
    Mistake("from the end", {"end": True}, "These are the last positions: take the first ones."),
)
RESAMPLE = (
    Mistake(
        "nearest",
        {"mode": "nearest"},
        "The nearest position is copied: interpolate with `mode='bilinear'`.",
    ),
    Mistake(
        "corners aligned",
        {"corners": True},
        "The corners are aligned: `align_corners=False`, which keeps patches where they lie.",
    ),
    Mistake(
        "rows and columns exchanged",
        {"turned": True},
        "Rows and columns are exchanged: after F.interpolate, exchange dim with rows and columns"
        " (`permute(1, 2, 0)`), not rows with columns.",
    ),
    Mistake("class token last", {"last": True}, "The class token's position comes first."),
    Mistake(
        "class token dropped",
        {"kept": False},
        "The class token's position is missing: row 0 is kept as it is.",
    ),
)


def exercises() -> tuple[Exercise, ...]:
    """The exercises of notebooks 4, 5 and 9."""
    return (_sinusoidal(), _norm(), *_blocks(), *_learned())


def _sinusoidal() -> Exercise:
    count, dim = 11, 6
    return Exercise(
        "sin_cos_positions",
        "04-sinusoidal-positions",
        (count, dim),
        sinusoidal(count, dim).float(),
        ("position", "feature"),
        positions,
        POSITIONS,
        shapes={
            "must match the size of": "Positions and frequencies have one axis each: give the"
            " positions an axis of their own, `torch.arange(positions)[:, None]`, so that each"
            " meets every frequency."
        },
    )


def _norm() -> Exercise:
    eps = 0.1  # large enough for its place to be seen
    x, weight, bias = (random(*shape, seed=9) for shape in ((TOKENS, DIM), (DIM,), (DIM,)))
    layer = LayerNorm(DIM, eps=eps)
    with torch.no_grad():
        layer.weight.copy_(weight)
        layer.bias.copy_(bias + 1)
        out = layer(x)
    given = (x, weight, bias + 1, eps)
    return Exercise("layer_norm", "05-block", given, out, ("token", "feature"), normed, NORM)


def _blocks() -> tuple[Exercise, ...]:
    x, matrix = random(TOKENS, DIM, seed=10), random(DIM, DIM, seed=11)

    def layer(x: Tensor) -> Tensor:
        return (x @ matrix.T).relu()

    exercises = []
    for name, form, reference in (("post_norm", "post", post_norm), ("pre_norm", "pre", pre_norm)):
        inner = standardised(x) if form == "pre" else x
        expected = x + (inner @ matrix.T).relu()
        expected = standardised(expected) if form == "post" else expected
        mistakes = tuple(
            Mistake(other, {"form": other}, hint) for other, hint in _FORMS.items() if other != form
        )
        axes = ("token", "feature")
        given = (x, layer, standardised)
        exercises.append(Exercise(name, "05-block", given, expected, axes, reference, mistakes))
    return tuple(exercises)


def _learned() -> tuple[Exercise, ...]:
    x, table = random(2, TOKENS, DIM, seed=12), random(13, DIM, seed=13)
    square = random(GRID * GRID + 1, DIM, seed=14)
    grid = square[1:].reshape(GRID, GRID, DIM).permute(2, 0, 1)[None]
    wide = F.interpolate(grid, size=(NEW, NEW), mode="bilinear", align_corners=False)[0]
    stretched = torch.cat([square[:1], wide.permute(1, 2, 0).reshape(NEW * NEW, DIM)])
    return (
        Exercise(
            "add_positions",
            "09-learned-positions",
            (x, table),
            torch.stack([x[:, n] + table[n] for n in range(TOKENS)], 1),
            ("text", "token", "feature"),
            add_positions,
            ADD,
            shapes={
                "must match the size of": "The table has more rows than there are tokens: take the"
                " first `x.shape[1]` of them."
            },
        ),
        Exercise(
            "resample",
            "09-learned-positions",
            (square, NEW),
            stretched,
            ("position", "feature"),
            resample,
            RESAMPLE,
        ),
    )
