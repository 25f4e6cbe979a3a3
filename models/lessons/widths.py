"""One query of width 2, ten keys of width 1, 2 or 3, and ten values of width 4.

A dot product needs queries and keys of one width; a bilinear or an additive score does not. Values
are never compared with anything: their width is that of the output.
"""

from dataclasses import dataclass
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor

from models.attention import Dot, attend
from models.attention.scores import Additive, Bilinear, Score

Scoring = Literal["dot", "bilinear", "additive"]

# Written by hand, with one decimal, so that every sum can be checked by hand as well.
KEYS = torch.tensor(
    [
        *([1.4, 0.3, -0.6], [-0.8, 1.1, 0.2], [0.5, -1.2, 0.9], [2.0, 0.7, 0.4]),
        *([-1.5, -0.4, 1.3], [0.1, 0.9, -1.1], [-0.3, -0.8, -0.2], [1.0, -0.5, 1.6]),
        *([-2.1, 0.6, -0.7], [0.7, 1.5, 0.5]),
    ]
)
VALUES = torch.tensor(
    [
        *([1.0, 0.2, -0.5, 0.8], [-0.6, 1.3, 0.4, -0.1], [0.3, -0.9, 1.2, 0.5]),
        *([2.0, -0.3, 0.1, -1.4], [-1.1, 0.7, -0.8, 0.6], [0.4, 1.6, 0.9, -0.7]),
        *([-0.2, -1.0, 0.3, 1.1], [0.9, 0.5, -1.3, 0.2], [-1.7, 0.1, 0.6, -0.4]),
        *([0.6, -0.7, 1.5, 0.9],),
    ]
)
BETWEEN = torch.tensor([[1.0, -0.5, 0.4], [0.6, 1.2, -0.9]])  # M
OF_QUERY = torch.tensor([[0.8, -0.4], [-0.6, 1.0], [0.5, 0.7]])  # W
OF_KEY = torch.tensor([[1.1, 0.3, -0.5], [0.7, -0.9, 0.4], [-1.2, 0.6, 0.8]])  # U
VECTOR = torch.tensor([1.5, -1.0, 2.0])  # v


@dataclass(frozen=True, eq=False)
class ThreeWidths:
    """One query's attention to all keys.

    Attributes:
        scores: unscaled.
        weights: their softmax.
        output: as wide as a value.
        hidden: W q + U k of each key, for an additive score.
        shape: of the output of a batch of two such look-ups.
    """

    scores: Float[Tensor, " key"]
    weights: Float[Tensor, " key"]
    output: Float[Tensor, " value_dim"]
    hidden: Float[Tensor, "key hidden"] | None
    shape: tuple[int, ...]


def three_widths(query: Float[Tensor, " dim"], key_width: int, scoring: Scoring) -> ThreeWidths:
    """Attention of one query to ten keys of another width.

    Args:
        query: of width 2.
        key_width: how many of the columns of `KEYS` the keys have.
        scoring: how a query and a key are compared; the matrices are those of this module.

    Raises:
        ValueError: for a dot product of different widths.
    """
    keys = KEYS[:, :key_width]
    if scoring == "dot" and len(query) != key_width:
        raise ValueError(f"dot: expected keys of width {len(query)}, received {key_width}")
    q, k, v = (each.expand(2, 1, *each.shape) for each in (query[None], keys, VALUES))
    score = score_of(scoring, key_width)
    values, pattern = attend(q, k, v, score=score)
    hidden = None
    if isinstance(score, Additive):
        of_query, of_key = score.hidden(query, keys)
        hidden = of_query + of_key
    return ThreeWidths(
        pattern.scores(0, item=0)[0],
        pattern.weights(0, item=0)[0],
        values[0, 0, 0],
        hidden,
        tuple(values[:, 0].shape),
    )


def score_of(scoring: Scoring, key_width: int) -> Score:
    """The score with this module's matrices, for keys of a width."""
    if scoring == "bilinear":
        return Bilinear(BETWEEN[:, :key_width])
    if scoring == "additive":
        return Additive(OF_QUERY, OF_KEY[:, :key_width], VECTOR)
    return Dot(scale=1.0)
