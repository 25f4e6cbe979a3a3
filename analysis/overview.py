"""Attention weights pooled for display, or combined over heads.

Max pooling keeps every peak: a cell shows the largest weight it covers. Weights are read in blocks
of rows, so those of a whole layer are never held at once.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import wraps
from typing import Concatenate, Literal, ParamSpec, Protocol, runtime_checkable

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from models.attention import Block
from models.attention.blocks import read_blocks
from models.trace import Rows, Site


@runtime_checkable
class RowSource(Protocol):
    """Rows of weights by site, with the labels of their rows and columns."""

    def weights(
        self,
        layer: int | Site,
        head: int | None = None,
        *,
        rows: Rows = None,
    ) -> Tensor: ...

    def query_labels(self, site: Site) -> list[str]: ...

    def key_labels(self, site: Site) -> list[str]: ...


@runtime_checkable
class WeightSource(RowSource, Protocol):
    """Attention weights by site, which also come in blocks of several heads."""

    def blocks(
        self, site: Site, *, head: int | None = None, rows: range | None = None
    ) -> Iterator[Block]: ...


@dataclass(frozen=True, eq=False)
class Derived:
    """What is made from the weights of a source, and has its labels."""

    source: RowSource

    def query_labels(self, site: Site) -> list[str]:
        return self.source.query_labels(site)

    def key_labels(self, site: Site) -> list[str]:
        return self.source.key_labels(site)


Head = int | Literal["mean", "max"]
P = ParamSpec("P")
Read = Callable[Concatenate[RowSource, P], Tensor]


def combine(
    weights: Float[Tensor, "head query key"], how: Literal["mean", "max"]
) -> Float[Tensor, "query key"]:
    """Mean or largest weight over the heads. Rows of the mean sum to 1, rows of the max do not."""
    return weights.mean(0) if how == "mean" else weights.amax(0)


def of_either_sign(read: Read[P]) -> Read[P]:
    """Makes the largest weight the largest change, with its sign, where a source has an `opposite`:
    the same with the other sign."""

    @wraps(read)
    def both(trace: RowSource, *args: P.args, **options: P.kwargs) -> Tensor:
        opposite: RowSource | None = getattr(trace, "opposite", None)
        gains = read(trace, *args, **options)
        if opposite is None:
            return gains
        losses = read(opposite, *args, **options)
        return torch.where(gains >= losses, gains, -losses)

    return both


@of_either_sign
def rows_of(trace: RowSource, site: Site, head: Head, rows: Rows) -> Float[Tensor, "row key"]:
    """Some rows of one head's weights, or of all heads' combined."""
    if isinstance(head, int):
        return trace.weights(site, head, rows=rows)
    heads = trace.weights(site, rows=rows)
    return combine(heads, head)


def blocks_of(
    trace: RowSource, site: Site, head: Head, rows: range | None = None
) -> Iterator[Block]:
    """Blocks of one head's weights, or of all heads' combined: `1 row key` each."""
    if isinstance(head, int):
        yield from blocks_by_head(trace, site, head, rows)
        return
    total = torch.empty(0)
    for block in blocks_by_head(trace, site, None, rows):
        total = _combined(total, block, head)
        if block.heads.stop == site.heads:
            weights = total / site.heads if head == "mean" else total
            yield Block(slice(0, 1), block.rows, block.keys, weights)


def blocks_by_head(
    trace: RowSource, site: Site, head: int | None, rows: range | None = None
) -> Iterator[Block]:
    """Blocks of one head's weights, or of every head's."""
    if isinstance(trace, WeightSource):
        yield from trace.blocks(site, head=head, rows=rows)
    else:
        yield from blocks_from_rows(trace, site, head, rows)


def blocks_from_rows(
    trace: RowSource, site: Site, head: int | None, rows: range | None = None
) -> Iterator[Block]:
    """Blocks of what a source gives as rows."""
    keys = len(trace.key_labels(site))

    def read(heads: slice, some: slice) -> Block:
        chosen = range(heads.start, heads.stop)
        part = range(some.start, some.stop)
        weights = [trace.weights(site, each, rows=part) for each in chosen]
        return Block(heads, some, slice(0, keys), torch.stack(weights))

    heads = range(site.heads) if head is None else range(head, head + 1)
    rows = range(len(trace.query_labels(site))) if rows is None else rows
    yield from read_blocks(read, heads, rows, keys)


def _combined(total: Tensor, block: Block, how: Literal["mean", "max"]) -> Tensor:
    """The sum or maximum of the heads so far, for one range of rows; `total` is written to."""
    heads = list(block.weights)
    if block.heads.start == 0:
        if total.shape[1:] != block.weights.shape[1:]:
            total = torch.empty_like(block.weights[:1])
        total.copy_(heads.pop(0)[None])
    combined = torch.add if how == "mean" else torch.maximum
    for one in heads:
        combined(total[0], one, out=total[0])
    return total


@of_either_sign
def column_of(trace: RowSource, site: Site, head: Head, key: int) -> Float[Tensor, " query"]:
    """The weight that every query gives to one key."""
    count, keys = len(trace.query_labels(site)), len(trace.key_labels(site))
    if not 0 <= key < keys:
        raise ValueError(f"key: expected 0 to {keys - 1}, received {key}")
    column = torch.zeros(count)
    for block in blocks_of(trace, site, head):
        if block.keys.start <= key < block.keys.stop:
            column[block.rows] = block.weights[0, :, key - block.keys.start].to(column)
    return column


class Pool:
    """Max-pools a range of rows and keys, from blocks of weights in any order.

    Cells cover the range evenly and completely (cell i of n: from ⌊i·len/n⌋ to ⌈(i+1)·len/n⌉). A
    range that is small enough is not pooled.

    Attributes:
        cells: `matrix row col`, at most size × size each; −∞ before the first block.
    """

    def __init__(self, matrices: int, rows: range, keys: range, size: int) -> None:
        self.rows, self.keys = rows, keys
        count, cols = min(size, len(rows)), min(size, len(keys))
        self.bins = [
            (rows.start + i * len(rows) // count, rows.start - (-(i + 1) * len(rows) // count))
            for i in range(count)
        ]
        self.cells = torch.full((matrices, count, cols), -torch.inf)

    def add(self, matrices: slice, block: Block, weights: Float[Tensor, "matrix row key"]) -> None:
        """Raises the cells of some matrices to the largest weights of a block."""
        self.cells = self.cells.to(weights.device)
        cells = self.cells[matrices]
        inside = slice(self.keys.start - block.keys.start, self.keys.stop - block.keys.start)
        if block.rows == slice(self.rows.start, self.rows.stop) and inside.start >= 0:
            part = weights[..., inside]
            if part.shape[2] == len(self.keys):
                cells[:] = F.adaptive_max_pool2d(part, cells.shape[1:])
                return
        start, stop = block.rows.start, block.rows.stop
        if len(self.bins) == len(self.rows):
            first, last = max(start, self.rows.start), min(stop, self.rows.stop)
            rows = weights[:, first - start : last - start]
            selection = cells[:, first - self.rows.start : last - self.rows.start]
        else:
            chosen = [i for i, (a, b) in enumerate(self.bins) if a < stop and start < b]
            spans = [(max(a, start) - start, b - start) for a, b in (self.bins[i] for i in chosen)]
            rows = torch.stack([weights[:, a:b].amax(1) for a, b in spans], 1)
            selection = cells[:, chosen[0] : chosen[-1] + 1]
        peaks = self._widened(rows, block.keys)
        torch.maximum(selection, _pool_keys(peaks, cells.shape[2]), out=selection)

    def _widened(self, peaks: Tensor, keys: slice) -> Tensor:
        """The keys of the range, with zeros where the block has none."""
        if keys.start <= self.keys.start and self.keys.stop <= keys.stop:
            return peaks[..., self.keys.start - keys.start : self.keys.stop - keys.start]
        first, last = max(keys.start, self.keys.start), min(keys.stop, self.keys.stop)
        wide = peaks.new_zeros(*peaks.shape[:2], len(self.keys))
        if first < last:
            part = peaks[..., first - keys.start : last - keys.start]
            wide[..., first - self.keys.start : last - self.keys.start] = part
        return wide


def _pool_keys(block: Tensor, cols: int) -> Tensor:
    if block.shape[-1] == cols:
        return block
    return F.adaptive_max_pool1d(block.flatten(0, -2)[None], cols)[0].unflatten(0, block.shape[:-1])


@of_either_sign
def pooled(
    trace: RowSource,
    site: Site,
    head: Head,
    rows: range,
    keys: range,
    *,
    size: int,
) -> Float[Tensor, "row col"]:
    """A range of rows and keys of a head's weights, pooled to at most size × size (see `Pool`)."""
    pool = Pool(1, rows, keys, size)
    for block in blocks_of(trace, site, head, rows):
        pool.add(slice(0, 1), block, block.weights)
    return pool.cells[0]


def survey(
    trace: WeightSource, site: Site, *, size: int, check: Callable[[], None] = lambda: None
) -> Float[Tensor, "column row col"]:
    """Every head of a site, then mean and max, each pooled (see `Pool`), in one pass.

    `check` before each block of weights may end it.
    """
    queries, keys = (len(labels(site)) for labels in (trace.query_labels, trace.key_labels))
    pool, total = Pool(site.heads + 1, range(queries), range(keys), size), torch.empty(0)
    for block in trace.blocks(site):
        check()
        pool.add(block.heads, block, block.weights)
        total = _combined(total, block, "mean")
        if block.heads.stop == site.heads:
            pool.add(slice(site.heads, site.heads + 1), block, total.div_(site.heads))
    return torch.cat([pool.cells, pool.cells[: site.heads].amax(0, keepdim=True)])
