"""Common mistakes in the exercises: the result each gives, and a hint.

A wrong answer that equals what a known slip gives gets that slip's own hint.
"""

from functools import partial
from math import pi, sqrt

import torch
from einops import rearrange

from notebooks.slips import Mistake, attention, normed, positions

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
        "no softmax",
        partial(attention, weigh=lambda scores, axis: scores),
        "The scores are used as weights: each query's scores go through a softmax first.",
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
        "attention between heads",
        partial(
            attention,
            into=lambda x, h: rearrange(x, "token (head dim) -> token head dim", head=h),
            back=lambda x: x.flatten(1),
        ),
        "Each token's heads attend to each other: exchange the first two axes after cutting, to"
        " heads × tokens × width, so that in each head tokens attend to tokens.",
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
    Mistake(
        "query, key and value not transposed",
        lambda x, q, k, v, out, heads: attention(x, q.T, k.T, v.T, out, heads),
        "`w_query`, `w_key` and `w_value` are used the wrong way round: `x @ w.T`.",
    ),
    Mistake(
        "output not transposed",
        lambda x, q, k, v, out, heads: attention(x, q, k, v, out.T, heads),
        "`w_out` is used the wrong way round: `… @ w_out.T`.",
    ),
    Mistake(
        "one head",
        lambda x, q, k, v, out, heads: attention(x, q, k, v, out, 1),
        "There is only one head, as wide as the model: cut queries, keys and values into `heads`"
        " pieces, and let each have a softmax of its own.",
    ),
    Mistake(
        "one head, scaled as many",
        lambda x, q, k, v, out, heads: attention(
            x, q, k, v, out, 1, root=lambda width, dim: sqrt(width / heads)
        ),
        "The scale is right, but there is only one head: cut queries, keys and values into `heads`"
        " pieces, and let each have a softmax of its own.",
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
    Mistake(
        "half the exponent",
        partial(positions, times=0.5),
        "The exponent is j / dim: it is 2j / dim, where 2j is the even dimension itself.",
    ),
    Mistake(
        "twice the exponent",
        partial(positions, times=2.0),
        "The exponent is twice too large: in 2j / dim, 2j is already the even dimension itself.",
    ),
    Mistake(
        "another base",
        partial(positions, base=1000),
        "The base is 1000: it is 10000.",
    ),
    Mistake(
        "degrees",
        partial(positions, unit=pi / 180),
        "The angles are taken as degrees: sine and cosine take them as they are, in radians.",
    ),
    Mistake(
        "whole numbers",
        lambda count, dim: positions(count, dim).trunc(),
        "The table holds whole numbers: make it of floats (`torch.zeros(positions, dim)`).",
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
        "no weight",
        lambda x, weight, bias, eps: normed(x, torch.ones_like(weight), bias, eps),
        "`weight` is not used: multiply by it, feature by feature, before the bias is added.",
    ),
    Mistake(
        "no bias",
        lambda x, weight, bias, eps: normed(x, weight, 0 * bias, eps),
        "`bias` is not used: add it at the end.",
    ),
    Mistake(
        "bias before weight",
        lambda x, weight, bias, eps: weight * (normed(x, torch.ones_like(weight), bias, eps)),
        "The bias is added before the weight is multiplied: weight first, then bias.",
    ),
)
# what PyTorch says to a slip in the shapes, and what to say about it
SHAPES = {
    "must match the size of": "`keepdim=True` leaves a mean or a variance its axis, so that it"
    " fits to x again; and in attention, look at the shapes: print(q.shape).",
    "Expected size for first two dimensions": "In q @ k the last two axes of k have to be"
    " exchanged: k.transpose(-2, -1).",
    "cannot be multiplied": "Print the shapes of both: for `x @ w.T` the last axes must be equal.",
    "is invalid for input of size": "A reshape has to keep how many numbers there are: heads times"
    " (dim / heads) is dim.",
}
