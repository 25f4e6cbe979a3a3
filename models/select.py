"""Picking heads, rows and items out of a pattern, with errors that say what there is."""

from collections.abc import Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor

Rows = slice | Sequence[int] | Tensor | None


def one_or_all(index: int | None, count: int, name: str) -> slice:
    """A slice of one, or of everything for None; ValueError for an index that is not there."""
    if index is None:
        return slice(None)
    if not 0 <= index < count:
        raise ValueError(f"{name}: expected 0 to {count - 1}, received {index}")
    return slice(index, index + 1)


def positions(rows: Rows, count: int) -> Int[Tensor, " row"]:
    """Rows as positions among `count` queries.

    Raises:
        ValueError: for a position that is not there, or anything but whole numbers.
    """
    if rows is None or isinstance(rows, slice):
        return torch.arange(count)[slice(None) if rows is None else rows]
    picked = torch.as_tensor(rows)
    whole = not len(picked) or picked.dtype in (torch.int32, torch.int64)
    if not whole or (len(picked) and not 0 <= int(picked.min()) <= int(picked.max()) < count):
        raise ValueError(f"rows: expected positions 0 to {count - 1}, received {rows}")
    return picked.long()


def drop(block: Tensor, head: int | None, item: int | None) -> Tensor:
    """`batch head …` without the axes of which one was picked."""
    if head is not None:
        block = block[:, 0]
    return block if item is None else block[0]


def per_head(
    kv: Float[Tensor, "batch kv_head key dim"], heads: int, chosen: slice
) -> Float[Tensor, "batch head key dim"]:
    """Keys or values, one head for each of the chosen of `heads` query heads."""
    group = heads // kv.shape[1]
    if group == 1:
        return kv[:, chosen]
    return kv[:, [head // group for head in range(heads)[chosen]]]
