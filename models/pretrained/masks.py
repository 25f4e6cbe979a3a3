"""Converts attention masks of transformers to `Mask` rules, dense only where no rule fits.

Libraries hand attention a matrix of tokens × tokens, True or 0 where a query may attend and False
or a very low number where it may not. The rule behind it is found by guessing it from the matrix
and comparing the two cell by cell, so that a wrong guess costs nothing but the saving.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import torch
from jaxtyping import Bool
from torch import Tensor

from models.attention import Mask

HIDDEN = -1e4  # lower scores give zero weight in any dtype


class MaskAndBias(NamedTuple):
    """A mask and the rest of the matrix it was read from.

    Attributes:
        mask: the rule.
        bias: what the matrix adds to the scores of visible keys; None if nothing.
    """

    mask: Mask
    bias: Tensor | None = None


def parse_mask(matrix: Tensor, batch: int, keys: int) -> MaskAndBias:
    """Splits a mask matrix into a rule and a bias.

    Under the lowest finite number in every cell, the row of a real token is no hidden row: all
    its scores round to that number, so the model attends to all keys evenly, except to those under
    −∞. Such a row is kept as it is, in the bias. A token that sees no key and that no other token
    sees is taken for padding.

    Args:
        matrix: True where a query may attend, or numbers to add to the scores; `batch head query
            key`, axes of size 1 broadcast.
        batch: batch size.
        keys: number of keys; further columns are dropped.
    """
    matrix = matrix if matrix.shape[-1] <= keys else matrix[..., :keys]
    if matrix.dtype == torch.bool:
        return MaskAndBias(infer_mask(matrix, batch))
    hidden = matrix <= HIDDEN
    if not hidden.any():
        return MaskAndBias(Mask(), matrix if matrix.any() else None)
    hidden = hidden & ~_even_rows(matrix, hidden)
    bias = matrix.masked_fill(hidden, 0.0)
    return MaskAndBias(infer_mask(~hidden, batch), bias if bias.any() else None)


def _even_rows(matrix: Tensor, hidden: Tensor) -> Tensor:
    """True at finite cells of low rows of real tokens."""
    low = hidden.all(-1, keepdim=True) & matrix.isfinite()
    square = matrix.shape[2] == matrix.shape[3]
    return low & ~hidden.all(-2, keepdim=True).mT if square else low


def infer_mask(seen: Bool[Tensor, "#batch #head #query key"], batch: int) -> Mask:
    """The simplest mask equal to the matrix in every cell."""
    alike = seen[:, :1]
    if seen.shape[1] > 1 and seen.stride(1) != 0 and not (seen == alike).all():
        return Mask(dense=seen)
    rows = torch.arange(seen.shape[2], device=seen.device)
    for guess in _candidates(alike[:, 0], batch):
        inferred = guess.visible(rows, seen.shape[3], range(1))
        if inferred is None:
            if alike.all():
                return guess
        elif (inferred == alike).all():
            return guess
    return Mask(dense=alike)


def _candidates(seen: Bool[Tensor, "#batch #query key"], batch: int) -> Iterator[Mask]:
    """Candidate rules, simplest first."""
    queries, keys = seen.shape[1:]
    unseen = ~seen.any(1)
    plain = Mask(padding=unseen.expand(batch, keys) if unseen.any() else None)
    if (seen == seen.any(1, keepdim=True)).all():
        yield plain
        return
    offset = max(0, keys - queries)
    row = torch.arange(queries, device=seen.device, dtype=torch.int32)[:, None] + offset
    distance = row - torch.arange(keys, device=seen.device, dtype=torch.int32)[None]
    near = distance[seen.any(0)]
    causal = int(near.min()) >= 0
    if causal:
        yield replace(plain, causal=True, offset=offset)
    window = int(near.abs().max()) + 1
    yield replace(plain, causal=causal, window=window, offset=offset)
