"""Attention masks as values: which keys each query may attend to.

A `Mask` stores the rule (causal, padding, window, segments, cut edges), not the tokens × tokens
matrix it implies, unless only a dense matrix is available. It provides the cheapest form for the
fused kernel, and any rows of the matrix on request.

True means "may attend" throughout, except in `padding` and `query_padding`, where it marks padding.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import torch
from jaxtyping import Bool, Int
from torch import Tensor

Positions = tuple[int, ...] | tuple[tuple[int, ...], ...] | None


class Edge(NamedTuple):
    """Query–key pairs to cut; None means all heads, queries or keys.

    Queries and keys are positions for all items of the batch, or a tuple of positions per item.
    """

    heads: tuple[int, ...] | None
    queries: Positions
    keys: Positions


@dataclass(frozen=True, eq=False)
class Mask:
    """Which keys each query may attend to. Rules are combined by AND; the default hides nothing.

    Attributes:
        causal: a query attends to no later key.
        padding: True at padding keys, which are hidden from every query.
        window: a query sees the keys fewer than `window` positions away, itself included.
        segments: a query sees only the keys of its own segment (sentences, packed documents).
        dense: True where a query may attend; only for rules that have no shorter form.
        cut: query–key pairs taken out, head by head.
        offset: the position of the first query among the keys, when earlier keys were cached.
        fill: the score of hidden keys; None means −∞. With a large negative number such as −10⁹, a
            query whose keys are all hidden has equal scores, and so uniform weights.
        query_padding: True at padding queries, where queries and keys are different tokens. It
            hides nothing: these rows are computed, but ignored.
        key_padding: True at padding keys, where `padding` does not say so. It hides nothing either:
            it tells edits which positions are an item's own tokens.
    """

    causal: bool = False
    padding: Bool[Tensor, "batch key"] | None = None
    window: int | None = None
    segments: Int[Tensor, "batch key"] | None = None
    dense: Bool[Tensor, "#batch #head query key"] | None = None
    cut: tuple[Edge, ...] = ()
    offset: int = 0
    fill: float | None = None
    query_padding: Bool[Tensor, "batch query"] | None = None
    key_padding: Bool[Tensor, "batch key"] | None = None

    def __post_init__(self) -> None:
        if self.window is not None and self.window < 1:
            raise ValueError(f"window: expected at least 1 key, received {self.window}")
        if self.offset < 0:
            raise ValueError(f"offset: expected 0 or more, received {self.offset}")
        if self.fill is not None and not self.fill < 0:
            raise ValueError(f"fill: expected a number below 0, received {self.fill}")

    def check(self, batch: int, heads: int, queries: int, keys: int) -> None:
        """Raises ValueError unless every rule fits attention of these sizes."""
        for name in ("padding", "segments", "key_padding"):
            rule = getattr(self, name)
            if rule is not None and rule.shape != (batch, keys):
                raise ValueError(
                    f"{name}: expected shape {(batch, keys)}, received {tuple(rule.shape)}"
                )
        mask = self.query_padding
        if mask is not None and mask.shape != (batch, queries):
            raise ValueError(
                f"query_padding: expected shape {(batch, queries)}, received {tuple(mask.shape)}"
            )
        if self.segments is not None and self.offset + queries > keys:
            raise ValueError(
                f"segments: expected every query among {keys} keys, received {queries} queries"
                f" from position {self.offset}"
            )
        if self.dense is not None:
            check_broadcast("dense", self.dense, (batch, heads, queries, keys))

    def without(self, edge: Edge) -> "Mask":
        """The mask with further query–key pairs cut."""
        return replace(self, cut=(*self.cut, edge))

    def of_other_queries(self, batch: int, queries: int) -> "Mask":
        """The mask where queries are no keys: padding of the keys is none of the queries."""
        if self.padding is None or self.query_padding is not None:
            return self
        none = torch.zeros(batch, queries, dtype=torch.bool, device=self.padding.device)
        return replace(self, query_padding=none)

    @property
    def hidden(self) -> float:
        """The score of a hidden key."""
        return -torch.inf if self.fill is None else self.fill

    @property
    def only_causal(self) -> bool:
        """Whether the fused kernel's causal flag is equivalent."""
        return self.causal and self.offset == 0 and not self._has_rows and self.padding is None

    @property
    def same_for_all_rows(self) -> bool:
        """Whether every row is the same."""
        return not self.causal and not self._has_rows

    @property
    def differs_by_head(self) -> bool:
        """Whether heads may see different keys."""
        return bool(self.cut) or (self.dense is not None and self.dense.shape[1] > 1)

    @property
    def _has_rows(self) -> bool:
        plain = self.window is None and self.segments is None and self.dense is None
        return not plain or bool(self.cut)

    def visible(
        self, rows: Int[Tensor, " row"], keys: int, heads: Sequence[int], *, start: int = 0
    ) -> Bool[Tensor, "#batch #head #row key"] | None:
        """The rows of the mask for these heads: True where a query may attend.

        Args:
            rows: positions of the queries, counted from the first query.
            keys: where the keys end: the number of them.
            heads: which heads; only cut edges and a dense mask differ between them.
            start: the first key of the result.

        Returns:
            The rows, with axes of size 1 where they do not differ; None if nothing is hidden.
        """
        part = slice(start, keys)
        seen = None if self.padding is None else ~self.padding[:, None, None, part]
        if self.causal or self.window is not None:
            seen = _both(seen, self._by_distance(rows, part))
        if self.segments is not None:
            segments = self.segments[:, rows + self.offset]
            seen = _both(seen, (segments[:, :, None] == self.segments[:, None, part])[:, None])
        if self.dense is not None:
            picked = self.dense if self.dense.shape[1] == 1 else self.dense[:, list(heads)]
            picked = picked if picked.shape[3] == 1 else picked[..., part]
            seen = _both(seen, picked[:, :, rows])
        for edge in self.cut:
            seen = _both(seen, ~_cut_cells(edge, rows, part, heads))
        return seen

    def reach(self, rows: slice, keys: int) -> slice:
        """The keys between the first and the last that any of these rows may reach by distance.

        All keys where hidden keys have a finite score, or where no row reaches any.
        """
        if self.fill is not None:
            return slice(0, keys)
        first, last = rows.start + self.offset, rows.stop - 1 + self.offset
        start = 0 if self.window is None else max(0, first - self.window + 1)
        stop = keys if self.window is None else min(keys, last + self.window)
        stop = min(stop, last + 1) if self.causal else stop
        return slice(start, stop) if start < stop else slice(0, keys)

    def _by_distance(self, rows: Tensor, part: slice) -> Tensor:
        key = torch.arange(part.start, part.stop, device=rows.device)
        distance = (rows + self.offset)[:, None] - key[None, :]
        near = torch.ones_like(distance, dtype=torch.bool)
        if self.causal:
            near &= distance >= 0
        if self.window is not None:
            near &= distance.abs() < self.window
        return near[None, None]


def check_broadcast(name: str, tensor: Tensor, shape: tuple[int, ...]) -> None:
    """Raises ValueError unless each axis is as long as expected, or 1."""
    received = tuple(tensor.shape)
    fits = len(received) == len(shape)
    if not fits or any(r not in (1, e) for r, e in zip(received, shape, strict=True)):
        raise ValueError(f"{name}: expected shape {shape}, or 1 for an axis, received {received}")


def _both(first: Tensor | None, second: Tensor | None) -> Tensor | None:
    if first is None or second is None:
        return second if first is None else first
    return first & second


def _cut_cells(edge: Edge, rows: Tensor, part: slice, heads: Sequence[int]) -> Tensor:
    """True at the cells an edge names, `#batch head row key`."""
    key = torch.arange(part.start, part.stop, device=rows.device)
    head = torch.tensor(heads, device=rows.device)
    by_head = _chosen(head, edge.heads)[:, :, None, None]
    by_row = _chosen(rows, edge.queries)[:, None, :, None]
    by_key = _chosen(key, edge.keys)[:, None, None, :]
    return by_head & by_row & by_key


def _chosen(positions: Tensor, wanted: Positions) -> Bool[Tensor, "#batch position"]:
    """Which positions are wanted, one row for all items or one for each."""
    if wanted is None:
        return torch.ones_like(positions, dtype=torch.bool)[None]
    items = wanted if wanted and isinstance(wanted[0], tuple) else (wanted,)
    return torch.stack(
        [torch.isin(positions, torch.tensor(each, device=positions.device)) for each in items]
    )
