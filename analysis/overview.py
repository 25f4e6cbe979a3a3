"""Attention weights pooled for display, or combined over heads.

Max pooling keeps every peak: a cell shows the largest weight it covers. Large layers are processed
in blocks of rows, so the weights of a whole layer are never held at once.
"""

from collections.abc import Callable
from typing import Literal, Protocol, runtime_checkable

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from models.trace import Rows, Site


@runtime_checkable
class WeightSource(Protocol):
    """Attention weights by site, with the labels of their rows and columns."""

    def weights(
        self,
        layer: int | Site,
        head: int | None = None,
        *,
        kind: str | None = None,
        tower: str | None = None,
        rows: Rows = None,
        item: int = 0,
    ) -> Tensor: ...

    def query_labels(self, site: Site, item: int = 0) -> list[str]: ...

    def key_labels(self, site: Site, item: int = 0) -> list[str]: ...


BLOCK_BYTES = 2**22  # weights computed at a time: small enough for the CPU cache
Head = int | Literal["mean", "max"]
COMBINED: tuple[Literal["mean", "max"], ...] = ("mean", "max")


def combine(
    weights: Float[Tensor, "head query key"], how: Literal["mean", "max"]
) -> Float[Tensor, "query key"]:
    """Mean or largest weight over the heads. Rows of the mean sum to 1, rows of the max do not."""
    return weights.mean(0) if how == "mean" else weights.amax(0)


def rows_of(
    trace: WeightSource, site: Site, head: Head, rows: Rows, *, item: int = 0
) -> Float[Tensor, "row key"]:
    """Some rows of one head's weights, or of all heads' combined."""
    if isinstance(head, int):
        return trace.weights(site, head, rows=rows, item=item)
    heads = trace.weights(site, rows=rows, item=item)
    return combine(heads, head)


def column_of(
    trace: WeightSource, site: Site, head: Head, key: int, *, item: int = 0
) -> Float[Tensor, " query"]:
    """The weight that every query gives to one key."""
    count, keys = len(trace.query_labels(site, item)), len(trace.key_labels(site, item))
    if not 0 <= key < keys:
        raise ValueError(f"key: expected 0 to {keys - 1}, received {key}")
    blocks = (rows_of(trace, site, head, rows, item=item) for rows in _blocks(site, count))
    return torch.cat([block[:, key] for block in blocks])


def pooled(
    trace: WeightSource,
    site: Site,
    head: Head,
    rows: range,
    keys: range,
    *,
    size: int,
    item: int = 0,
) -> Float[Tensor, "row col"]:
    """A range of rows and keys of a head's weights, max-pooled to at most size × size cells.

    Cells cover the range evenly and completely (cell i of n: from ⌊i·len/n⌋ to ⌈(i+1)·len/n⌉). A
    range that is small enough is not pooled.
    """

    def read(part: range) -> Tensor:
        return rows_of(trace, site, head, part, item=item)

    return _pool(read, rows, keys, size, row_bytes=4 * site.heads * site.keys)


def thumbnails(
    trace: WeightSource, site: Site, *, size: int, item: int = 0
) -> Float[Tensor, "column row col"]:
    """Every head of a site, then their mean and max, each pooled as in `pooled`."""

    def read(part: range) -> Tensor:
        heads = trace.weights(site, rows=part, item=item)
        return torch.cat([heads, *(combine(heads, how)[None] for how in COMBINED)])

    rows = range(len(trace.query_labels(site, item)))
    keys = range(len(trace.key_labels(site, item)))
    return _pool(read, rows, keys, size, row_bytes=4 * (site.heads + 2) * site.keys)


def _pool(
    read: Callable[[range], Tensor], rows: range, keys: range, size: int, *, row_bytes: int
) -> Tensor:
    """Max-pools the weights that `read` returns (`… row key`), one block of rows at a time."""
    count, cols = min(size, len(rows)), min(size, len(keys))
    bins = [(i * len(rows) // count, -(-(i + 1) * len(rows) // count)) for i in range(count)]
    per_block = max(1, BLOCK_BYTES // row_bytes * count // len(rows))
    cells = []
    for first in range(0, count, per_block):
        chunk = bins[first : first + per_block]
        start = chunk[0][0]
        block = read(rows[start : chunk[-1][1]])[..., keys.start : keys.stop]
        if count < len(rows):
            parts = [block[..., a - start : b - start, :].amax(-2, keepdim=True) for a, b in chunk]
            block = torch.cat(parts, -2)
        cells.append(block if cols == len(keys) else _pool_keys(block, cols))
    return torch.cat(cells, -2)


def _pool_keys(block: Tensor, cols: int) -> Tensor:
    return F.adaptive_max_pool1d(block.flatten(0, -2)[None], cols)[0].unflatten(0, block.shape[:-1])


def _blocks(site: Site, count: int) -> list[range]:
    """Ranges of rows whose weights, over all heads, stay under BLOCK_BYTES."""
    step = max(1, BLOCK_BYTES // (4 * site.heads * site.keys))
    return [range(start, min(start + step, count)) for start in range(0, count, step)]
