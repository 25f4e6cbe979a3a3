"""Every intermediate result of one attention head, computed from its `Pattern`.

products q·k → scores (scaled, with bias) → masked → exp → divided by its sum → weighted values

For small inputs and for display only: no network uses it.
"""

from dataclasses import dataclass, replace

import torch
from jaxtyping import Float
from torch import Tensor

from models.attention import Dot, Mask, Pattern
from models.simple import Smallest

LEAST = 0.01  # smaller sums of exponentials cannot be read with four decimals


@dataclass(frozen=True, eq=False)
class Followed:
    """The intermediate results of attention, in order.

    Attributes:
        products: q·k, unscaled.
        scores: scaled products with the bias, before masking.
        masked: the scores with −∞ (or the mask's fill value) where the mask hides the key.
        exponentials: exp(masked − shifts), the numerators of the softmax.
        shifts: subtracted from each row first, see `exponentials`; usually 0.
        sums: row sums of `exponentials`.
        weights: each exponential divided by its row sum.
        values: the output.
    """

    products: Float[Tensor, "query key"]
    scores: Float[Tensor, "query key"]
    masked: Float[Tensor, "query key"]
    exponentials: Float[Tensor, "query key"]
    shifts: Float[Tensor, " query"]
    sums: Float[Tensor, " query"]
    weights: Float[Tensor, "query key"]
    values: Float[Tensor, "query value_dim"]


def follow(pattern: Pattern, *, head: int = 0) -> Followed:
    """Every step of one head for the first item.

    Raises:
        ValueError: for a pattern whose score is not a plain dot product.
    """
    score = pattern.score
    if not isinstance(score, Dot) or score.softcap is not None or score.sink is not None:
        raise ValueError("follow: expected plain dot products, received another score")
    open_ = replace(pattern, mask=Mask(), weights_edits=())
    bare = replace(open_, score=Dot(scale=1.0), bias=None, temperature=None)
    masked = pattern.scores(head, item=0)
    exps, shifts = exponentials(masked)
    weights = pattern.weights(head, item=0)
    values = weights @ pattern.v[0, head * pattern.v.shape[1] // pattern.heads].float()
    return Followed(
        products=bare.scores(head, item=0),
        scores=open_.scores(head, item=0),
        masked=masked,
        exponentials=exps,
        shifts=shifts[:, 0],
        sums=exps.sum(-1),
        weights=weights,
        values=values,
    )


def exponentials(
    scores: Float[Tensor, "*row key"],
) -> tuple[Float[Tensor, "*row key"], Float[Tensor, "*row 1"]]:
    """exp(score − shift) and the shift of each row.

    The shift is usually 0. Where a row's exponentials would overflow or be too small to read, it
    is the row's largest score; it cancels out in the weights.
    """
    sums = scores.exp().sum(-1, keepdim=True)
    largest = scores.amax(-1, keepdim=True)
    unreadable = (sums.isinf() | (sums < LEAST)) & largest.isfinite()
    shift = largest.where(unreadable, torch.zeros_like(largest))
    return (scores - shift).exp(), shift


def terms(
    a: Float[Tensor, " dim"], b: Float[Tensor, " dim"]
) -> tuple[Float[Tensor, " dim"], Float[Tensor, ""]]:
    """The terms of a dot product, and their sum."""
    products = a * b
    return products, torch.dot(a, b)


@dataclass(frozen=True, eq=False)
class SmallestSteps:
    """The intermediate results of the smallest transformer, for one item.

    Attributes:
        attended: output of the attention.
        added: the words plus that output: the residual connection.
        normed: each word normalised to mean 0 and standard deviation 1.
        predictions: one number per word.
    """

    attended: Float[Tensor, "word dim"]
    added: Float[Tensor, "word dim"]
    normed: Float[Tensor, "word dim"]
    predictions: Float[Tensor, "word 1"]


def follow_smallest(network: Smallest, x: Float[Tensor, "1 word dim"]) -> SmallestSteps:
    """Every step of the smallest transformer."""
    out = network(x)
    attended = follow(out.patterns[0]).values
    return SmallestSteps(attended, x[0] + attended, out.hidden[0], out.predictions[0])
