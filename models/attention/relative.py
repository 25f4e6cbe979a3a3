"""Relative positions inside attention: rotary embeddings, ALiBi, and T5's learned bias.

`models/positional.py` adds a vector to each token; these act inside `attend` instead. All of them
depend only on the distance between query and key.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from models.attention.pattern import Bias

RELATIVE = ("rotary", "alibi", "relative")
BUCKETS, FURTHEST = 32, 128  # of T5: distances from the furthest on share the last bucket


class Relation(NamedTuple):
    """Position information for attention; none by default.

    Attributes:
        angles: rotation angles of queries and keys, see `rotate`.
        bias: added to the scores, see `Pattern.bias`.
    """

    angles: Float[Tensor, "token pair"] | None = None
    bias: Bias = None

    def since(self, first: int) -> "Relation":
        """The same for the queries from one position on, with all keys."""
        if first == 0:
            return self
        angles = None if self.angles is None else self.angles[first:]
        bias = self.bias
        if isinstance(bias, Tensor):
            return Relation(angles, bias if bias.shape[2] == 1 else bias[:, :, first:])
        return Relation(angles, None if bias is None else lambda rows: bias(rows + first))


def rotary_angles(
    positions: int | Int[Tensor, " position"], dim: int, *, base: float = 10_000.0
) -> Float[Tensor, "position pair"]:
    """The rotation angle of each pair of coordinates at each position, in radians.

        angle[p, i] = p / base^(2i/dim)

    Args:
        positions: number of positions (0, 1, 2, …), or the positions themselves.
        dim: width of a head, an even number: dim / 2 pairs.
        base: of the geometric sequence of wavelengths.

    Returns:
        float64 on the CPU: float32 is too imprecise for distant positions.

    Source: Su et al. 2021 (RoFormer), eq. 15.
    """
    check_rotary("rotary", dim)
    if isinstance(positions, int):
        positions = torch.arange(positions, device="cpu")
    even = torch.arange(0, dim, 2, dtype=torch.float64, device="cpu")
    return positions.cpu().double()[:, None] / base ** (even / dim)


def check_rotary(kind: str, head_dim: int, key_dim: int | None = None) -> None:
    """Raises ValueError if rotary positions are combined with an odd head width.

    They turn queries and keys alike: keys of another width than `head_dim` are refused too.
    """
    if kind == "rotary" and key_dim not in (None, head_dim):
        raise ValueError(
            f"rotary: expected queries and keys of one width, received {head_dim} and {key_dim}"
        )
    if kind == "rotary" and (head_dim < 2 or head_dim % 2):
        raise ValueError(f"rotary: expected an even head width, received {head_dim}")


def rotate(
    x: Float[Tensor, "batch head token dim"], angles: Float[Tensor, "token pair"]
) -> Float[Tensor, "batch head token dim"]:
    """Rotates pairs of coordinates, so that dot products depend on relative positions only.

    Coordinate i makes a pair with coordinate i + dim/2 (half-split, as in Llama's checkpoints;
    RoFormer's own code pairs 2i with 2i + 1, which is the same up to the order of coordinates).

    Source: Su et al. 2021 (RoFormer), eq. 34.
    """
    token, pairs = angles.shape
    if x.shape[2:] != (token, 2 * pairs):
        raise ValueError(
            f"angles: expected {x.shape[2]} tokens and {x.shape[3] / 2:g} pairs,"
            f" received {token} and {pairs}"
        )
    cos, sin = (part.to(x.device, x.dtype) for part in (angles.cos(), angles.sin()))
    first, second = x.chunk(2, dim=-1)
    return torch.cat([first * cos - second * sin, second * cos + first * sin], dim=-1)


def alibi_slopes(heads: int) -> Float[Tensor, " head"]:
    """Slope of each head's bias.

    A geometric sequence from 2^(-8/heads) to 2^-8 where heads is a power of two; otherwise that of
    the next lower power, followed by every other slope of the next higher power.

    Source: Press et al. 2022, section 3, and its published code for other numbers of heads.
    """
    below = 2 ** (heads.bit_length() - 1)
    slopes = [2 ** (-8 * (i + 1) / below) for i in range(below)]
    slopes += [2 ** (-4 * (2 * i + 1) / below) for i in range(heads - below)]
    return torch.tensor(slopes, device="cpu")


def alibi(heads: int, rows: int | Int[Tensor, " row"], keys: int) -> Float[Tensor, "head row key"]:
    """The bias of ALiBi, −slope · |distance|, on both sides of the query.

    Args:
        heads: number of heads.
        rows: number of queries (0, 1, 2, …), or their positions.
        keys: number of keys.

    Source: Press et al. 2022, section 3, whose attention is causal: i − j in place of |i − j|.
    """
    distance = distances(rows, keys)
    return -alibi_slopes(heads).to(distance.device)[:, None, None] * distance.abs()


def distances(rows: int | Int[Tensor, " row"], keys: int) -> Int[Tensor, "row key"]:
    """Position of the key minus position of the query."""
    if isinstance(rows, int):
        rows = torch.arange(rows, device="cpu")
    return torch.arange(keys, device=rows.device)[None, :] - rows[:, None]


def relative_buckets(distance: Int[Tensor, "..."], *, bidirectional: bool) -> Int[Tensor, "..."]:
    """The bucket of each distance: one per distance when near, logarithmic ranges when far.

    Args:
        distance: position of the key minus position of the query.
        bidirectional: whether keys after the query have their own buckets (the upper half);
            otherwise they all fall into bucket 0.

    Source: Raffel et al. 2020 (T5), section 2.1, and its published code.
    """
    side = BUCKETS // 2 if bidirectional else BUCKETS
    exact = side // 2
    after = side * (distance > 0).long() if bidirectional else torch.zeros_like(distance).long()
    far = distance.abs() if bidirectional else (-distance).clamp(min=0)
    # float32 and this order of operations, as published: other rounding moves bucket boundaries
    logarithm = torch.log(far.clamp(min=1).float() / exact) / math.log(FURTHEST / exact)
    shared = (exact + (logarithm * (side - exact)).long()).clamp(max=side - 1)
    return after + torch.where(far < exact, far, shared)


@dataclass(frozen=True)
class AlibiBias:
    """The bias of ALiBi, row by row (see `Pattern.bias`)."""

    heads: int
    tokens: int

    def __call__(self, rows: Tensor) -> Tensor:
        return alibi(self.heads, rows, self.tokens)


@dataclass(frozen=True, eq=False)
class RelativeBias:
    """A learned bias per bucket of distances, row by row (see `Pattern.bias`).

    Attributes:
        table: of every bucket and head.
        tokens: number of keys.
        bidirectional: see `relative_buckets`.
    """

    table: Float[Tensor, "bucket head"]
    tokens: int
    bidirectional: bool

    def __call__(self, rows: Tensor) -> Tensor:
        distance = distances(rows, self.tokens)
        return self.table.T[:, relative_buckets(distance, bidirectional=self.bidirectional)]


class RelativePositions(nn.Module):
    """Position information for the attention of a network; all layers share it.

    Of "relative" it is a table with one learned number per bucket of distances and head (Raffel et
    al. 2020, section 2.1); the others have no parameters.
    """

    def __init__(
        self, kind: str, heads: int, head_dim: int, *, causal: bool = False, base: float = 10_000.0
    ) -> None:
        """Draws the table, if there is one.

        Args:
            kind: one of `RELATIVE`; any other is nothing inside attention.
            heads: number of heads.
            head_dim: width of one.
            causal: whether keys after the query are hidden, and need no buckets.
            base: of the wavelengths of rotary positions.
        """
        super().__init__()
        self.kind, self.heads, self.head_dim = kind, heads, head_dim
        self.bidirectional, self.base = not causal, base
        if kind == "relative":
            self.table = nn.Parameter(torch.randn(BUCKETS, heads))

    def forward(self, tokens: int) -> Relation:
        if self.kind == "rotary":
            return Relation(angles=rotary_angles(tokens, self.head_dim, base=self.base))
        if self.kind == "alibi":
            return Relation(bias=AlibiBias(self.heads, tokens))
        if self.kind == "relative":
            return Relation(bias=RelativeBias(self.table, tokens, self.bidirectional))
        return Relation()
