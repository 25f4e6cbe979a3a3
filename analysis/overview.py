"""Attention weights pooled for display, or combined over heads.

Max pooling keeps every peak: a cell shows the largest weight it covers. Large layers are processed
in blocks of rows, so the weights of a whole layer are never held at once.
"""

from collections.abc import Callable, Iterator
from typing import Literal, Protocol, runtime_checkable

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from models.attention import Block
from models.trace import Rows, Site


@runtime_checkable
class RowSource(Protocol):
    """Rows of weights by site, with the labels of their rows and columns."""

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


@runtime_checkable
class WeightSource(RowSource, Protocol):
    """Attention weights by site, which also come in blocks of several heads."""

    def blocks(self, site: Site, *, item: int = 0) -> Iterator[Block]: ...


BLOCK_BYTES = 2**22  # weights computed at a time: small enough for the CPU cache
Head = int | Literal["mean", "max"]
COMBINED: tuple[Literal["mean", "max"], ...] = ("mean", "max")


def combine(
    weights: Float[Tensor, "head query key"], how: Literal["mean", "max"]
) -> Float[Tensor, "query key"]:
    """Mean or largest weight over the heads. Rows of the mean sum to 1, rows of the max do not."""
    return weights.mean(0) if how == "mean" else weights.amax(0)


def rows_of(
    trace: RowSource, site: Site, head: Head, rows: Rows, *, item: int = 0
) -> Float[Tensor, "row key"]:
    """Some rows of one head's weights, or of all heads' combined."""
    if isinstance(head, int):
        return trace.weights(site, head, rows=rows, item=item)
    heads = trace.weights(site, rows=rows, item=item)
    return combine(heads, head)


def column_of(
    trace: RowSource, site: Site, head: Head, key: int, *, item: int = 0
) -> Float[Tensor, " query"]:
    """The weight that every query gives to one key."""
    count, keys = len(trace.query_labels(site, item)), len(trace.key_labels(site, item))
    if not 0 <= key < keys:
        raise ValueError(f"key: expected 0 to {keys - 1}, received {key}")
    blocks = (rows_of(trace, site, head, rows, item=item) for rows in _blocks(site, count))
    return torch.cat([block[:, key] for block in blocks])


def pooled(
    trace: RowSource,
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


class Thumbnails:
    """Every head of a site, then their mean and max, each max-pooled as in `pooled`.

    Built from the blocks of the site's weights (`WeightSource.blocks`), so that other numbers can
    be computed in the same pass.
    """

    def __init__(self, heads: int, queries: int, keys: int, *, size: int) -> None:
        """Empty thumbnails.

        Args:
            heads: of the site.
            queries: rows of its weights.
            keys: columns of its weights.
            size: maximum cells per side.
        """
        self.heads, self.queries, self.keys = heads, queries, keys
        self.bins, self.cols = _bins(queries, min(size, queries)), min(size, keys)
        self.cells = torch.zeros(heads + 1, len(self.bins), self.cols)  # of the heads and the mean
        self.total: Tensor | None = None  # over the heads so far of the current rows

    def add(self, block: Block) -> None:
        """Adds a block of weights; all heads of a range of rows come one after the other."""
        self.cells = self.cells.to(block.weights.device)
        self._pool(self.cells[block.heads], block, block.weights)
        if block.heads.start == 0:
            self.total = block.weights.sum(0, keepdim=True)
        elif self.total is not None:
            for weights in block.weights:
                self.total += weights
        if block.heads.stop == self.heads and self.total is not None:
            self._pool(self.cells[self.heads :], block, self.total.div_(self.heads))

    def result(self) -> Float[Tensor, "column row col"]:
        """The heads, mean and max."""
        return torch.cat([self.cells, self.cells[: self.heads].amax(0, keepdim=True)])

    def _pool(self, cells: Tensor, block: Block, weights: Tensor) -> None:
        """Raises cells to the largest weights of the block."""
        rows, keys = block.rows, block.keys
        if weights.shape[1:] == (self.queries, self.keys):
            cells[:] = F.adaptive_max_pool2d(weights, (len(self.bins), self.cols))
            return
        inside = [i for i, (a, b) in enumerate(self.bins) if a < rows.stop and rows.start < b]
        parts = [
            weights[:, max(a, rows.start) - rows.start : b - rows.start].amax(1)
            for a, b in (self.bins[i] for i in inside)
        ]
        peaks = weights.new_zeros(len(weights), len(inside), self.keys)
        torch.stack(parts, 1, out=peaks[..., keys])
        found = cells[:, inside[0] : inside[-1] + 1]
        torch.maximum(found, _pool_keys(peaks, self.cols), out=found)


def thumbnails(
    trace: WeightSource, site: Site, *, size: int, item: int = 0
) -> Float[Tensor, "column row col"]:
    """Every head of a site, then their mean and max, each pooled as in `pooled`."""
    queries, keys = len(trace.query_labels(site, item)), len(trace.key_labels(site, item))
    found = Thumbnails(site.heads, queries, keys, size=size)
    for block in trace.blocks(site, item=item):
        found.add(block)
    return found.result()


def _pool(
    read: Callable[[range], Tensor], rows: range, keys: range, size: int, *, row_bytes: int
) -> Tensor:
    """Max-pools the weights that `read` returns (`… row key`), one block of rows at a time."""
    count, cols = min(size, len(rows)), min(size, len(keys))
    bins = _bins(len(rows), count)
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


def _bins(length: int, count: int) -> list[tuple[int, int]]:
    """Ranges of positions that cover a length evenly."""
    return [(i * length // count, -(-(i + 1) * length // count)) for i in range(count)]


def _pool_keys(block: Tensor, cols: int) -> Tensor:
    return F.adaptive_max_pool1d(block.flatten(0, -2)[None], cols)[0].unflatten(0, block.shape[:-1])


def _blocks(site: Site, count: int) -> list[range]:
    """Ranges of rows whose weights, over all heads, stay under BLOCK_BYTES."""
    step = max(1, BLOCK_BYTES // (4 * site.heads * site.keys))
    return [range(start, min(start + step, count)) for start in range(0, count, step)]
