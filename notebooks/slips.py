"""Reference solutions with injectable mistakes."""

from collections.abc import Callable
from dataclasses import dataclass
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
    weigh: Callable[[Tensor, int], Tensor] = torch.softmax,
) -> Tensor:
    """Multi-head self-attention, with a place for each slip."""
    q, k, v = (into(x @ w.T, heads) for w in (w_query, w_key, w_value))
    scores = (k @ q.mT if crossed else q @ k.mT) / root(q.shape[-1], x.shape[-1])
    together = back(weigh(scores, axis) @ v)
    return together @ w_out.T if out else together


def positions(
    count: int,
    dim: int,
    *,
    first: int = 0,
    own: bool = False,
    times: float = 1.0,
    base: float = 10000,
    unit: float = 1.0,
) -> Tensor:
    """The table of sines and cosines, with a place for slips in the angle."""
    at = torch.arange(first, first + count, dtype=torch.float64)[:, None]
    even = torch.arange(0, dim, 2, dtype=torch.float64)
    odd = even + 1 if own else even
    sines, cosines = (unit * at / base ** (times * each / dim) for each in (even, odd))
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
