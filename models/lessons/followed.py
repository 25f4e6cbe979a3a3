"""One head's attention followed number by number: every intermediate result, from its `Pattern`.

    products q·k → scores (scaled, with bias) → masked → exp → divided by its sum → weighted values

For a few words, to be read: nothing here is used to compute a network.
"""

from dataclasses import dataclass, replace

import torch
from jaxtyping import Float
from torch import Tensor

from models.attention import Dot, Mask, Pattern
from models.simple import Smallest


@dataclass(frozen=True, eq=False)
class Followed:
    """What attention works out on the way, in order.

    Attributes:
        products: q·k, before any scale.
        scores: times the scale, with the bias; nothing is hidden yet.
        masked: the scores with −∞ (or the mask's own number) where the mask hides the key.
        exponentials: exp of `masked`, as the softmax takes it.
        sums: of each row of `exponentials`.
        weights: each exponential over its row's sum.
        values: what comes out.
    """

    products: Float[Tensor, "query key"]
    scores: Float[Tensor, "query key"]
    masked: Float[Tensor, "query key"]
    exponentials: Float[Tensor, "query key"]
    sums: Float[Tensor, " query"]
    weights: Float[Tensor, "query key"]
    values: Float[Tensor, "query value_dim"]


def follow(pattern: Pattern, *, head: int = 0, item: int = 0) -> Followed:
    """Every step of one head on one item.

    Raises:
        ValueError: for a pattern whose score is not a plain dot product.
    """
    if not isinstance(pattern.score, Dot) or pattern.score.softcap or pattern.score.sink:
        raise ValueError("follow: expected plain dot products, received another score")
    open_ = replace(pattern, mask=Mask(), weights_edits=())
    bare = replace(open_, score=Dot(scale=1.0), bias=None, temperature=None)
    masked = pattern.scores(head, item=item)
    exponentials = masked.exp()
    weights = pattern.weights(head, item=item)
    values = weights @ pattern.v[item, head * pattern.v.shape[1] // pattern.heads].float()
    return Followed(
        products=bare.scores(head, item=item),
        scores=open_.scores(head, item=item),
        masked=masked,
        exponentials=exponentials,
        sums=exponentials.sum(-1),
        weights=weights,
        values=values,
    )


def terms(
    a: Float[Tensor, " dim"], b: Float[Tensor, " dim"]
) -> tuple[Float[Tensor, " dim"], Float[Tensor, ""]]:
    """A dot product written out: its products, and their sum."""
    products = a * b
    return products, torch.dot(a, b)


@dataclass(frozen=True, eq=False)
class SmallestSteps:
    """What the smallest transformer works out on the way, of one item.

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
