"""What goes wrong in the exercises, as code: what each slip would give, and what to say about it.

A wrong answer that equals what a known slip gives gets that slip's own hint.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import sqrt

import torch
from einops import rearrange
from torch import Tensor


@dataclass(frozen=True)
class Mistake:
    """A slip: what it would give from the exercise's arguments, and the hint."""

    name: str
    gives: Callable[..., Tensor]
    hint: str


def split(x: Tensor, heads: int) -> Tensor:
    """`token (head dim)` as `head token dim`."""
    return rearrange(x, "token (head dim) -> head token dim", head=heads)


def merge(x: Tensor) -> Tensor:
    """`head token dim` as `token (head dim)`."""
    return rearrange(x, "head token dim -> token (head dim)")


def attention(
    x: Tensor,
    w_query: Tensor,
    w_key: Tensor,
    w_value: Tensor,
    w_out: Tensor,
    heads: int,
    *,
    root: Callable[[int, int], float] = lambda width, dim: sqrt(width),
    axis: int = -1,
    into: Callable[[Tensor, int], Tensor] = split,
    back: Callable[[Tensor], Tensor] = merge,
    crossed: bool = False,
    out: bool = True,
) -> Tensor:
    """Multi-head self-attention, with a place for each slip."""
    q, k, v = (into(x @ w.T, heads) for w in (w_query, w_key, w_value))
    scores = (k @ q.mT if crossed else q @ k.mT) / root(q.shape[-1], x.shape[-1])
    together = back(scores.softmax(axis) @ v)
    return together @ w_out.T if out else together


def positions(count: int, dim: int, *, first: int = 0, own: bool = False) -> Tensor:
    """The table of sines and cosines, with a place for slips in the angle."""
    at = torch.arange(first, first + count, dtype=torch.float64)[:, None]
    even = torch.arange(0, dim, 2, dtype=torch.float64)
    odd = even + 1 if own else even
    sines, cosines = (at / 10000 ** (each / dim) for each in (even, odd))
    return rearrange([sines.sin(), cosines.cos()], "pair row col -> row (col pair)").float()


def normed(
    x: Tensor,
    weight: Tensor,
    bias: Tensor,
    eps: float,
    *,
    axis: int | tuple[int, ...] = -1,
    correction: int = 0,
    below: Callable[[Tensor, float], Tensor] = lambda variance, eps: (variance + eps).sqrt(),
) -> Tensor:
    """Layer normalisation, with a place for each slip."""
    variance = x.var(axis, keepdim=True, correction=correction)
    return weight * (x - x.mean(axis, keepdim=True)) / below(variance, eps) + bias


ATTENTION = (
    Mistake(
        "no scale",
        partial(attention, root=lambda width, dim: 1.0),
        "The scores are not scaled: divide q · k by the root of the head's width.",
    ),
    Mistake(
        "scale of the model",
        partial(attention, root=lambda width, dim: sqrt(dim)),
        "The scores are divided by the root of the model's width `dim`; each head is only"
        " `dim / heads` wide, and its own width counts.",
    ),
    Mistake(
        "no root",
        partial(attention, root=lambda width, dim: float(width)),
        "The scores are divided by the head's width itself: take its square root.",
    ),
    Mistake(
        "softmax over queries",
        partial(attention, axis=-2),
        "The softmax runs over the queries: each query's weights over the *keys* must sum to 1"
        " (the last axis of the scores).",
    ),
    Mistake(
        "softmax over heads",
        partial(attention, axis=0),
        "The softmax runs over the heads: it belongs to the last axis, the keys.",
    ),
    Mistake(
        "queries and keys swapped",
        partial(attention, crossed=True),
        "Queries and keys are swapped: rows of the scores are queries (q @ k.T), not keys.",
    ),
    Mistake(
        "heads cut across tokens",
        partial(attention, into=lambda x, heads: x.reshape(heads, len(x), -1)),
        "Reshaping to heads × tokens × width mixes tokens: first cut each token's numbers into"
        " heads (tokens × heads × width), then exchange the first two axes.",
    ),
    Mistake(
        "heads merged without exchanging axes",
        partial(attention, back=lambda x: x.reshape(x.shape[1], -1)),
        "Reshaping heads × tokens × width to tokens × dim mixes tokens: exchange the first two axes"
        " back before the heads are put side by side.",
    ),
    Mistake(
        "numbers dealt to heads in turn",
        partial(
            attention, into=lambda x, h: rearrange(x, "token (dim head) -> head token dim", head=h)
        ),
        "The numbers are dealt to the heads in turn: each head takes `dim / heads` numbers that"
        " stand side by side.",
    ),
    Mistake(
        "no output projection",
        partial(attention, out=False),
        "The last step is missing: the heads' results, side by side, go through `w_out`.",
    ),
    Mistake(
        "matrices not transposed",
        lambda x, q, k, v, out, heads: attention(x, q.T, k.T, v.T, out.T, heads),
        "The matrices are used the wrong way round: `x @ w.T`, like `torch.nn.Linear`.",
    ),
)
POSITIONS = (
    Mistake(
        "not interleaved",
        lambda count, dim: rearrange(
            positions(count, dim), "row (col pair) -> row (pair col)", pair=2
        ),
        "All sines stand in the left half and all cosines in the right: they take turns, sine in"
        " dimension 2j and cosine in 2j + 1.",
    ),
    Mistake(
        "sine and cosine swapped",
        lambda count, dim: (
            rearrange(positions(count, dim), "row (col pair) -> row col pair", pair=2)
            .flip(-1)
            .flatten(1)
        ),
        "Sine and cosine are swapped: sine comes first, in the even dimensions.",
    ),
    Mistake(
        "an exponent of its own for the cosine",
        partial(positions, own=True),
        "The cosine has another exponent than its sine: both of a pair use 2j / dim.",
    ),
    Mistake(
        "positions counted from 1",
        partial(positions, first=1),
        "The first row is that of position 1: positions are counted from 0.",
    ),
)
NORM = (
    Mistake(
        "variance over one less",
        partial(normed, correction=1),
        "The variance is divided by dim − 1 (that is what `torch.var` does unless it is told"
        " `correction=0`): divide by dim.",
    ),
    Mistake(
        "ε outside the root",
        partial(normed, below=lambda variance, eps: variance.sqrt() + eps),
        "ε is added to the deviation: it is added to the variance, under the root.",
    ),
    Mistake(
        "no root",
        partial(normed, below=lambda variance, eps: variance + eps),
        "It is divided by the variance: divide by its root.",
    ),
    Mistake(
        "no ε",
        partial(normed, below=lambda variance, eps: variance.sqrt()),
        "ε is missing: it is added to the variance, under the root.",
    ),
    Mistake(
        "over the tokens",
        partial(normed, axis=0),
        "Each feature is normed over the tokens, as batch normalisation does: norm each token over"
        " its features (the last axis).",
    ),
    Mistake(
        "over everything",
        partial(normed, axis=(-2, -1)),
        "Mean and variance are taken over the whole of x: each token has its own.",
    ),
    Mistake(
        "not centred",
        lambda x, weight, bias, eps: (
            weight * x / (x.var(-1, keepdim=True, correction=0) + eps).sqrt() + bias
        ),
        "The mean is not subtracted before dividing.",
    ),
    Mistake(
        "no weight and bias",
        lambda x, weight, bias, eps: normed(x, torch.ones_like(weight), 0 * bias, eps),
        "`weight` and `bias` are not used: multiply by the one and add the other at the end.",
    ),
    Mistake(
        "bias before weight",
        lambda x, weight, bias, eps: weight * (normed(x, torch.ones_like(weight), bias, eps)),
        "The bias is added before the weight is multiplied: weight first, then bias.",
    ),
)
