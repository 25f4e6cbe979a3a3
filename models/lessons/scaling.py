"""Why scores are divided by √d: the variance of dot products, and softmax saturation.

If the elements of q and k are independent with mean 0 and variance 1, q·k has mean 0 and variance d
(Vaswani et al. 2017, footnote 4); divided by √d it has variance 1 at any width.
"""

from dataclasses import dataclass
from math import sqrt

import torch
from jaxtyping import Float
from torch import Tensor

from models.attention.scores import Additive, Bilinear, softmax
from models.seeding import seeded

QUERIES, KEYS = 500, 8  # random queries, and keys of each
HIDDEN = 64  # units of the additive score


def softened(scores: Float[Tensor, " key"], temperature: float = 1.0) -> Float[Tensor, " key"]:
    """Weights of one query: softmax(scores / temperature)."""
    return softmax(scores[None, None, None] / temperature)[0, 0, 0]


def slopes(weights: Float[Tensor, "*query key"]) -> Float[Tensor, "*query key"]:
    """Derivative of each weight with respect to its own score: w (1 − w), from 0 to 1/4."""
    return weights * (1 - weights)


def walks(width: int, *, seed: int) -> Float[Tensor, "query key width"]:
    """Dot products of random queries and keys, feature by feature: sums of the first 1 to `width`.

    Args:
        width: of a query and a key.
        seed: of the random numbers, drawn from the standard normal distribution.
    """
    q, k = drawn(width, seed=seed)
    return (q * k).cumsum(-1)


def others(
    q: Float[Tensor, "query 1 width"], k: Float[Tensor, "query key width"], *, seed: int
) -> dict[str, Float[Tensor, "query key"]]:
    """Bilinear and additive scores, with random weights.

    The elements of M have variance 1/width, those of W and U 1/(2 width), those of v 1/hidden: with
    queries and keys of variance 1, qᵀMk has variance `width`, what goes into the tanh variance 1.

    Args:
        q: one query for each row of keys.
        k: its keys.
        seed: of the weights, drawn from normal distributions.
    """
    width = q.shape[-1]
    with seeded(seed):
        of_q, of_k = torch.randn(2, HIDDEN, width) / sqrt(2 * width)
        v = torch.randn(HIDDEN) / sqrt(HIDDEN)
        between = torch.randn(width, width) / sqrt(width)
    kinds = {"bilinear": Bilinear(between), "additive": Additive(of_q, of_k, v)}
    return {name: each.scores(q[:, None], k[:, None], [0])[:, 0, 0] for name, each in kinds.items()}


def drawn(
    width: int, *, seed: int
) -> tuple[Float[Tensor, "query 1 width"], Float[Tensor, "query key width"]]:
    """Queries, and keys for each, from the standard normal distribution."""
    with seeded(seed):
        return torch.randn(QUERIES, 1, width), torch.randn(QUERIES, KEYS, width)


@dataclass(frozen=True)
class Costs:
    """Cost of the scores of all pairs.

    Attributes:
        products: number of multiplications.
        numbers: number of intermediate values kept for the backward pass.
    """

    products: int
    numbers: int


def dot_costs(tokens: int, width: int) -> Costs:
    """q·k for every pair: one matrix product, of which only the scores are kept."""
    return Costs(tokens * tokens * width, tokens * tokens)


def additive_costs(tokens: int, width: int, hidden: int) -> Costs:
    """vᵀ tanh(W q + U k) for every pair: one hidden layer per pair (Bahdanau et al. 2015)."""
    projected = 2 * tokens * width * hidden
    return Costs(projected + tokens * tokens * hidden, tokens * tokens * hidden)


@dataclass(frozen=True, eq=False)
class Halves:
    """One score computed in two orders and two precisions.

    Attributes:
        product: q·k in half precision.
        late: (q·k) / √d, scaled after the product, in half precision.
        early: (q / ∜d)·(k / ∜d), scaled before the product, in half precision.
        exact: the score in double precision.
    """

    product: float
    late: float
    early: float
    exact: float


def halves(q: Float[Tensor, " dim"], k: Float[Tensor, " dim"]) -> Halves:
    """Scaling q and k by 1/∜d each keeps the terms small *before* they are summed.

    The largest float16 number is 65,504: a larger product overflows to infinity, and dividing
    it afterwards does not bring it back.
    """
    width = q.shape[0]
    root, fourth = sqrt(width), width**0.25
    low_q, low_k = q.half(), k.half()
    product = low_q @ low_k
    early = (low_q / fourth) @ (low_k / fourth)
    exact = float(q.double() @ k.double()) / root
    return Halves(float(product), float(product / root), float(early), exact)
