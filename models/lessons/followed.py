"""Every intermediate result of one attention head, computed from its `Pattern`.

    products q·k → scores (scaled, with bias) → masked → exp → divided by its sum → weighted values

For a few words, to be read: nothing here is used to compute a network.
"""

from dataclasses import dataclass, replace

import torch
from jaxtyping import Float
from torch import Tensor

from models.attention import Dot, Mask, Pattern
from models.simple import Smallest

LEAST = 0.01  # sums of exponentials from here on can be read with four decimals


@dataclass(frozen=True, eq=False)
class Followed:
    """The intermediate results of attention, in order.

    Attributes:
        products: q·k, before any scale.
        scores: times the scale, with the bias; nothing is hidden yet.
        masked: the scores with −∞ (or the mask's own number) where the mask hides the key.
        exponentials: exp of `masked` less `shifts`, as the softmax takes it.
        shifts: what is subtracted from a row first, see `exponentials`; 0 for most.
        sums: of each row of `exponentials`.
        weights: each exponential over its row's sum.
        values: what comes out.
    """

    products: Float[Tensor, "query key"]
    scores: Float[Tensor, "query key"]
    masked: Float[Tensor, "query key"]
    exponentials: Float[Tensor, "query key"]
    shifts: Float[Tensor, " query"]
    sums: Float[Tensor, " query"]
    weights: Float[Tensor, "query key"]
    values: Float[Tensor, "query value_dim"]


def follow(pattern: Pattern, *, head: int = 0, item: int = 0) -> Followed:
    """Every step of one head on one item.

    Raises:
        ValueError: for a pattern whose score is not a plain dot product.
    """
    score = pattern.score
    if not isinstance(score, Dot) or score.softcap is not None or score.sink is not None:
        raise ValueError("follow: expected plain dot products, received another score")
    open_ = replace(pattern, mask=Mask(), weights_edits=())
    bare = replace(open_, score=Dot(scale=1.0), bias=None, temperature=None)
    masked = pattern.scores(head, item=item)
    exps, shifts = exponentials(masked)
    weights = pattern.weights(head, item=item)
    values = weights @ pattern.v[item, head * pattern.v.shape[1] // pattern.heads].float()
    return Followed(
        products=bare.scores(head, item=item),
        scores=open_.scores(head, item=item),
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
    """exp of every score, and what was subtracted from all scores of its row first.

    Mostly nothing. Where the row's exponentials are too large for their numbers, or too small to be
    read, it is the largest score; the weights stay the same, since all exponentials are divided by
    the same number.
    """
    sums = scores.exp().sum(-1, keepdim=True)
    largest = scores.amax(-1, keepdim=True)
    unreadable = (sums.isinf() | (sums < LEAST)) & largest.isfinite()
    shift = largest.where(unreadable, torch.zeros_like(largest))
    return (scores - shift).exp(), shift


def terms(
    a: Float[Tensor, " dim"], b: Float[Tensor, " dim"]
) -> tuple[Float[Tensor, " dim"], Float[Tensor, ""]]:
    """A dot product written out: its products, and their sum."""
    products = a * b
    return products, torch.dot(a, b)


@dataclass(frozen=True, eq=False)
class SmallestSteps:
    """The intermediate results of the smallest transformer, for one item.

    Attributes:
        attended: what its attention gives.
        added: the words and that together: the residual connection.
        normed: each word with mean 0 and deviation 1.
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
