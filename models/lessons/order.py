"""Attention without positions is permutation equivariant: order has to be encoded.

    attention(P x) = P attention(x)   for any permutation P of the tokens

So a sentence and its words in another order give the same vectors, in another order. Positions
that are added to the words end that.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from models.attention import MultiHeadAttention, MultiHeadAttentionConfig
from models.positional import sinusoidal
from models.seeding import seeded

SLIPS = ("as it is", "exponent (2j+1)/d", "exponent 2j + 1/d")


@dataclass(frozen=True, eq=False)
class Permuted:
    """One layer's output for words in two orders.

    Attributes:
        before: for every word, in the first order.
        after: for the same words, told in the first order too, when they came in the second.
    """

    before: Float[Tensor, "word dim"]
    after: Float[Tensor, "word dim"]

    @property
    def moved(self) -> Float[Tensor, " word"]:
        """Distance each word's vector moved: 0 where order does not matter."""
        return (self.before - self.after).norm(dim=-1)


def permuted(
    words: Sequence[str], order: Sequence[int], *, positions: bool, dim: int = 16, seed: int = 0
) -> Permuted:
    """Self-attention of one untrained layer over words in two orders.

    Args:
        words: a vector of its own for each different word, drawn from the seed.
        order: which word comes first, second, …
        positions: whether the sinusoidal code of its place is added to each word.
        dim: width.
        seed: of words and weights.

    Raises:
        ValueError: unless the order has every place once.
    """
    if sorted(order) != list(range(len(words))) or not words:
        raise ValueError(f"order: expected each of {len(words)} places once, received {order}")
    known = {word: number for number, word in enumerate(dict.fromkeys(words))}
    with seeded(seed):
        layer = MultiHeadAttention(MultiHeadAttentionConfig(dim=dim, heads=2)).eval()
        table = torch.randn(len(known), dim)
    x = table[[known[word] for word in words]]
    places = sinusoidal(len(words), dim) if positions else torch.zeros_like(x)
    back = torch.argsort(torch.tensor(list(order)))
    with torch.no_grad():
        before, _ = layer((x + places)[None])
        after, _ = layer((x[list(order)] + places)[None])
    return Permuted(before[0], after[0][back])


def misread(
    positions: int, dim: int, slip: str, *, base: float = 10_000.0
) -> Float[Tensor, "position dim"]:
    """The sinusoidal table, or what a formula in print would give that slips in its cosine.

        P[p, 2j] = sin(p / base^(2j/d))   and, in print,   P[p, 2j+1] = cos(p / base^(2j+1/d))

    Read as it stands the exponent is 2j + 1/d; read kindly it is (2j+1)/d. Either way the sine and
    the cosine of a pair turn at different rates, and are no longer one point on a circle.

    Args:
        positions: how many.
        dim: width, even.
        slip: one of `SLIPS`.
        base: of the wavelengths.
    """
    if slip not in SLIPS:
        raise ValueError(f"slip: expected one of {', '.join(SLIPS)}, received {slip!r}")
    table = sinusoidal(positions, dim, base=base)
    if slip == SLIPS[0]:
        return table
    position = torch.arange(positions, dtype=torch.float64)[:, None]
    pair = torch.arange(0, dim, 2, dtype=torch.float64)
    exponent = (pair + 1) / dim if slip == SLIPS[1] else pair + 1 / dim
    table[:, 1::2] = (position / base**exponent).cos().float()[:, : dim // 2]
    return table


def circle(table: Float[Tensor, "position dim"]) -> Float[Tensor, "position pair"]:
    """sin² + cos² of every pair: 1 where both turn together."""
    return table[:, 0::2].square() + table[:, 1::2].square()
