"""Attention without positions is permutation equivariant: order has to be encoded.

    attention(P x) = P attention(x)   for any permutation P of the tokens

So permuting the words of a sentence only permutes the output vectors. Adding positional encodings
breaks this symmetry, and so does a causal mask.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from models.attention import Mask, MultiHeadAttention, MultiHeadAttentionConfig
from models.positional import sinusoidal
from models.seeding import seeded

DIM = 16  # width of the layer whose words are permuted
BASE = 10_000.0  # of the wavelengths
SLIPS = ("as it is", "exponent (2j+1)/d", "exponent 2j + 1/d")


@dataclass(frozen=True, eq=False)
class Permuted:
    """One layer's output for words in two orders.

    Attributes:
        before: the output for the original order.
        after: the output for the permuted order, rearranged to the original order.
    """

    before: Float[Tensor, "word dim"]
    after: Float[Tensor, "word dim"]

    @property
    def moved(self) -> Float[Tensor, " word"]:
        """Distance between each word's two vectors: 0 where order does not matter."""
        return (self.before - self.after).norm(dim=-1)


def permuted(
    words: Sequence[str],
    order: Sequence[int],
    *,
    positions: bool,
    causal: bool = False,
) -> Permuted:
    """Self-attention of one untrained layer over words in two orders.

    Args:
        words: the words; each distinct word gets a random vector.
        order: the permutation: index of the word that comes first, second, …
        positions: whether sinusoidal positions are added.
        causal: whether each word sees only itself and the words before it.

    Raises:
        ValueError: if `order` is not a permutation.
    """
    if sorted(order) != list(range(len(words))) or not words:
        raise ValueError(f"order: expected each of {len(words)} positions once, received {order}")
    index = {word: number for number, word in enumerate(dict.fromkeys(words))}
    with seeded(0):
        layer = MultiHeadAttention(MultiHeadAttentionConfig(dim=DIM, heads=2)).eval()
        table = torch.randn(len(index), DIM)
    x = table[[index[word] for word in words]]
    encoding = sinusoidal(len(words), DIM) if positions else torch.zeros_like(x)
    back = torch.argsort(torch.tensor(list(order)))
    with torch.no_grad():
        mask = Mask(causal=causal)
        before, _ = layer((x + encoding)[None], mask=mask)
        after, _ = layer((x[list(order)] + encoding)[None], mask=mask)
    return Permuted(before[0], after[0][back])


def misread(positions: int, dim: int, slip: str) -> Float[Tensor, "position dim"]:
    """The sinusoidal table, or the one that a common misprint of its cosine gives.

        P[p, 2j] = sin(p / 10000^(2j/d))   and, misprinted,   P[p, 2j+1] = cos(p / 10000^(2j+1/d))

        Read literally, the exponent is 2j + 1/d; read charitably, (2j+1)/d. In both cases sine and
        cosine of a pair have different frequencies and no longer describe a point on a circle.

    Args:
        positions: number of positions.
        dim: width, an even number.
        slip: one of `SLIPS`.
    """
    if slip not in SLIPS:
        raise ValueError(f"slip: expected one of {', '.join(SLIPS)}, received {slip!r}")
    table = sinusoidal(positions, dim, base=BASE)
    if slip == SLIPS[0]:
        return table
    position = torch.arange(positions, dtype=torch.float64)[:, None]
    pair = torch.arange(0, dim, 2, dtype=torch.float64)
    exponent = (pair + 1) / dim if slip == SLIPS[1] else pair + 1 / dim
    table[:, 1::2] = (position / BASE**exponent).cos().float()[:, : dim // 2]
    return table


def circle(table: Float[Tensor, "position dim"]) -> Float[Tensor, "position pair"]:
    """sin² + cos² of every pair: 1 where both have the same frequency."""
    return table[:, 0::2].square() + table[:, 1::2].square()
