"""`Pattern`: the recipe of one attention layer's weights, evaluated on request.

    scores  = (score(q, k) + bias) / temperature; −∞ where the mask hides the key
    weights = softmax(scores) over the keys, then the edits of the weights

A `Pattern` keeps references to q, k and v, which must not be modified in place afterwards. That is
O(tokens × dim) memory, where the weights would take O(heads × tokens²).
A row with no key to attend to has all-zero weights.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol, runtime_checkable

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from models.attention.blocks import BLOCK_ROWS, CACHE_BYTES, Block, read_blocks
from models.attention.mask import Mask, check_broadcast
from models.attention.scores import Additive, Dot, Score, masked_scores, softmax
from models.shown import one_line

Rows = slice | Sequence[int] | Tensor | None


def index_slice(index: int | None, count: int, name: str) -> slice:
    """A slice of one index, or of all for None; ValueError if out of range."""
    if index is None:
        return slice(None)
    if not (hasattr(index, "__index__") and 0 <= index < count):
        raise ValueError(f"{name}: expected 0 to {count - 1}, received {index}")
    return slice(index, index + 1)


def positions(rows: Rows, count: int) -> Int[Tensor, " row"]:
    """Rows as positions among `count` queries.

    Raises:
        ValueError: for positions out of range or not integers.
    """
    if rows is None or isinstance(rows, slice):
        return torch.arange(count)[slice(None) if rows is None else rows]
    picked = torch.as_tensor(rows)
    if picked.is_meta:  # without values there is nothing to check
        return picked
    whole = not len(picked) or picked.dtype in (torch.int32, torch.int64)
    if not whole or (len(picked) and not 0 <= int(picked.min()) <= int(picked.max()) < count):
        raise ValueError(f"rows: expected positions 0 to {count - 1}, received {rows}")
    return picked.long()


def drop_axes(block: Tensor, head: int | None, item: int | None) -> Tensor:
    """Drops the axes of a single head or item."""
    if head is not None:
        block = block[:, 0]
    return block if item is None else block[0]


def expand_heads(
    kv: Float[Tensor, "batch kv_head key dim"], heads: int, chosen: slice
) -> Float[Tensor, "batch head key dim"]:
    """Keys or values repeated for the chosen query heads (of `heads` in all)."""
    group = heads // kv.shape[1]
    if group == 1:
        return kv[:, chosen]
    return kv[:, [head // group for head in range(heads)[chosen]]]


Bias = Tensor | Callable[[Tensor], Tensor] | None


@runtime_checkable
class WeightsEdit(Protocol):
    """An edit that changes weights after softmax, row by row, the same way every time.

    The recipe may decide: weights of another head, an item's own tokens.
    """

    def edit_weights(
        self, weights: Tensor, heads: Sequence[int], rows: Tensor, pattern: "Pattern", item: int
    ) -> Tensor:
        """Edited weights `head row key` of the given heads and rows of one item."""
        ...


@runtime_checkable
class ValuesEdit(Protocol):
    """An edit that changes each head's values, before the output projection."""

    def edit_values(self, values: Tensor, pattern: "Pattern") -> Tensor: ...


@runtime_checkable
class RowsEdit(Protocol):
    """An edit of values that makes each query's values a sum of those of all queries."""

    def edit_rows(
        self, rows: Tensor, heads: Sequence[int], pattern: "Pattern", item: int
    ) -> Tensor:
        """Makes the same sums of any `head query feature` of some heads of an item."""
        ...


@dataclass(frozen=True, eq=False)
class Pattern:
    """The recipe of one layer's attention weights.

    Axes are `batch head query key`: rows are queries (who attends), columns keys (attended to).
    Every number that comes out is float32, after softmax, before dropout.

    Attributes:
        q: `batch head query dim`.
        k: `batch kv_head key dim`; fewer key heads than heads means grouped-query attention.
        v: `batch kv_head key value_dim`.
        mask: which keys each query may attend to.
        score: the scoring function.
        bias: added to the scores: a tensor `batch head query key` (axes of size 1 broadcast), or
            a function of the queries' positions that gives `head row key`.
        temperature: divides each head's scores (and its sink) before the softmax.
        weights_edits: edits of the weights after the softmax.
        values_edits: edits of the values that the weights give; `weights` are those before them.
        path: how the values were computed: "fused" or "explicit".
        values: the output of the attention while gradients are recorded, else None.
        values_gradient: the gradient of the target with respect to `values`, if requested.
    """

    q: Float[Tensor, "batch head query dim"]
    k: Float[Tensor, "batch kv_head key key_dim"]
    v: Float[Tensor, "batch kv_head key value_dim"]
    mask: Mask = Mask()
    score: Score = Dot()
    bias: Bias = None
    temperature: Float[Tensor, " head"] | None = None
    weights_edits: tuple[WeightsEdit, ...] = ()
    values_edits: tuple[ValuesEdit, ...] = ()
    path: Literal["fused", "explicit"] = "explicit"
    values: Float[Tensor, "batch head query value_dim"] | None = None
    values_gradient: Float[Tensor, "batch head query value_dim"] | None = None

    def __repr__(self) -> str:
        return one_line(self)

    def __post_init__(self) -> None:
        (batch, heads, queries, dim), (items, key_heads, keys, key_dim) = self.q.shape, self.k.shape
        if heads % key_heads or key_heads != self.v.shape[1]:
            raise ValueError(
                f"expected key and value heads that divide {heads} query heads,"
                f" received {key_heads} and {self.v.shape[1]}"
            )
        if items != batch:
            raise ValueError(f"expected keys for {batch} items, received {items}")
        if (items, keys) != (self.v.shape[0], self.v.shape[2]):
            raise ValueError(
                f"expected a value for every key, received keys {tuple(self.k.shape)}"
                f" and values {tuple(self.v.shape)}"
            )
        if isinstance(self.score, Dot) and dim != key_dim:
            raise ValueError(
                f"a dot product needs queries and keys of one width, received {dim} and {key_dim}"
            )
        self.mask.check(batch, heads, queries, keys)
        if isinstance(self.bias, Tensor):
            check_broadcast("bias", self.bias, (batch, heads, queries, keys))
        sink = self.score.sink if isinstance(self.score, Dot) else None
        for name, each in (("temperature", self.temperature), ("sink", sink)):
            if each is not None and each.shape != (heads,):
                raise ValueError(
                    f"{name}: expected one number for each of {heads} heads,"
                    f" received {tuple(each.shape)}"
                )

    def derived(self, **changed: Any) -> "Pattern":
        """The pattern with other fields, which are known to fit: nothing is checked again."""
        pattern = object.__new__(type(self))
        pattern.__dict__.update(self.__dict__, **changed)
        return pattern

    @property
    def batch(self) -> int:
        return self.q.shape[0]

    @property
    def heads(self) -> int:
        return self.q.shape[1]

    @property
    def key_heads(self) -> int:
        return self.k.shape[1]

    @property
    def queries(self) -> int:
        return self.q.shape[2]

    @property
    def keys(self) -> int:
        return self.k.shape[2]

    @property
    def device(self) -> torch.device:
        return self.q.device

    @property
    def is_softmax(self) -> bool:
        """Whether the weights are the softmax of the scores alone."""
        return self._sink(slice(None)) is None and not self.weights_edits

    def scores(
        self, head: int | None = None, rows: Rows = None, *, item: int | None = None
    ) -> Float[Tensor, "..."]:
        """Scores before the softmax: −∞ at masked keys.

        Args:
            head: one head, whose axis is dropped; None for all.
            rows: which queries; None for all.
            item: one item of the batch, whose axis is dropped; None for all.

        Returns:
            `batch head row key`, float32.

        Raises:
            ValueError: for a head, row or item out of range.
        """
        scores, _ = self._scores(self._heads(head), self._rows(rows), self._items(item))
        return drop_axes(scores, head, item).float()

    def weights(
        self, head: int | None = None, rows: Rows = None, *, item: int | None = None
    ) -> Float[Tensor, "..."]:
        """The attention weights: arguments, shape and errors as for `scores`.

        A row sums to 1, except: a row with no key to attend to is zero, a sink keeps its share, and
        edits of the weights may change the sum.
        """
        weights = self._weights(self._heads(head), self._rows(rows), self._items(item))
        return drop_axes(weights, head, item).float()

    def sink_weights(self, item: int = 0) -> Float[Tensor, "head query"] | None:
        """The weight of every query of an item on the sink of its softmax; None without a sink.

        Of edited weights it is what they leave of 1.
        """
        heads, items = self._heads(None), self._items(item)
        sink, parts = self._sink(heads), self._rows(None).split(BLOCK_ROWS)
        if sink is None:
            return None
        if self.weights_edits:
            sums = torch.cat([self._weights(heads, rows, items).sum(-1) for rows in parts], -1)
            return (1 - sums[0]).clamp(min=0).float().detach()
        totals = torch.cat(
            [self._scores(heads, rows, items)[0].logsumexp(-1) for rows in parts], -1
        )
        return torch.sigmoid(sink[:, None].to(totals) - totals[0]).float().detach()

    def effective_weights(
        self, head: int | None = None, rows: Rows = None, *, item: int = 0
    ) -> Float[Tensor, "..."]:
        """The weights by which this pass's values are sums of `v`, edits of the values included.

        They are `weights` without such edits, and 0 for a head that is ablated to zero.

        Args:
            head: one head, whose axis is dropped; None for all.
            rows: which queries; None for all.
            item: of the batch.

        Raises:
            ValueError: for a head, row or item out of range, and after an edit that does not make
                values of those of other queries.
        """
        if not self.values_edits:
            return self.weights(head, rows, item=item)
        picked, heads = self._rows(rows), range(self.heads)[self._heads(head)]
        weights = torch.stack([self._effective(each, item)[picked] for each in heads])
        return weights if head is None else weights[0]

    def _effective(self, head: int, item: int) -> Float[Tensor, "query key"]:
        weights = self.weights(head, item=item)[None]
        for edit in self.values_edits:
            if not isinstance(edit, RowsEdit):
                raise ValueError(
                    f"{edit} changes values: expected an edit that says of which queries' values"
                    " they are made"
                )
            weights = edit.edit_rows(weights, [head], self, item)
        return weights[0]

    def blocks(
        self,
        max_bytes: int = CACHE_BYTES,
        *,
        head: int | None = None,
        rows: range | None = None,
        keys: int | None = None,
        item: int = 0,
    ) -> Iterator[Block]:
        """Every weight of one item once, in blocks of rows.

        Args:
            max_bytes: of the weights of a block.
            head: one head; None for all.
            rows: consecutive queries; None for all.
            keys: only the first keys, of an item with padding behind it; None for all.
            item: of the batch.

        Raises:
            ValueError: for a head or item out of range.
        """
        items, heads = self._items(item), range(self.heads)[self._heads(head)]
        rows = range(self.queries) if rows is None else rows
        keys = self.keys if keys is None else keys

        def read(chosen: slice, some: slice) -> Block:
            places = torch.arange(some.start, some.stop, device=self.device)
            if not self.is_softmax:
                weights = self._weights(chosen, places, items)[0].float().detach()
                return Block(chosen, some, slice(0, keys), weights[..., :keys])
            reached = self.mask.reach(some, keys)
            scores, masked = self._scores(chosen, places, items, reached)
            return Block.of_scores(chosen, some, reached, scores[0].detach().float(), masked)

        hidden = self.score.width if isinstance(self.score, Additive) else 1
        yield from read_blocks(read, heads, rows, keys, max_bytes // hidden)

    def gradient(
        self, head: int | None = None, rows: Rows = None, *, item: int | None = None
    ) -> Float[Tensor, "..."]:
        """The gradient of the target with respect to the weights: dL/dA = dL/d(values) · vᵀ.

        Arguments and shape as for `weights`.

        Raises:
            ValueError: if the trace recorded no gradient.
        """
        if self.values_gradient is None:
            raise ValueError("no gradient recorded: request one with trace(..., gradient=...)")
        heads, positions, items = self._heads(head), self._rows(rows), self._items(item)
        values_gradient = self.values_gradient[items, heads][:, :, positions].float()
        values = expand_heads(self.v[items], self.heads, heads).float()
        return drop_axes(values_gradient @ values.transpose(-1, -2), head, item)

    def detached(self, values_gradient: Tensor) -> "Pattern":
        """The same recipe with the gradient of its values, detached from the autograd graph."""
        q, k, v = (tensor.detach() for tensor in (self.q, self.k, self.v))
        bias = self.bias.detach() if isinstance(self.bias, Tensor) else self.bias
        return replace(self, q=q, k=k, v=v, bias=bias, values=None, values_gradient=values_gradient)

    def empty_rows(self, padding: Bool[Tensor, "batch query"] | None = None) -> int:
        """Number of rows, over batch and heads, whose keys are all masked.

        Args:
            padding: True at padding queries, which are not counted; None counts all.
        """
        if self.mask.only_causal:
            return 0
        count = 0
        for start in range(0, self.queries, BLOCK_ROWS):
            rows = torch.arange(start, min(start + BLOCK_ROWS, self.queries), device=self.device)
            seen = self.mask.visible(rows, self.keys, range(self.heads))
            if seen is not None:
                empty = (~seen.any(-1)).expand(self.batch, self.heads, len(rows))
                if padding is not None:
                    empty = empty & ~padding.to(rows.device)[:, None, rows]
                count += int(empty.sum())
        return count

    def _scores(
        self, heads: slice, rows: Tensor, items: slice, keys: slice = slice(None)
    ) -> tuple[Tensor, bool]:
        """The scores `batch head row key`, and whether any of them may be −∞."""
        wide = torch.promote_types(self.q.dtype, torch.float32)
        chosen, (start, stop, _) = range(self.heads)[heads], keys.indices(self.keys)
        q = self.q[items, heads][:, :, rows]
        k = expand_heads(self.k[items, :, keys], self.heads, heads)
        bias = self.bias_rows(rows, chosen, items, keys)
        seen = self.mask.visible(rows, stop, chosen, start=start)
        scores = masked_scores(
            self.score.scores(q.to(wide), k.to(wide), chosen),
            bias=bias,
            temperature=None if self.temperature is None else self.temperature[heads],
            hidden=None if seen is None else ~(seen if seen.shape[0] == 1 else seen[items]),
            fill=self.mask.hidden,
        )
        return scores, bias is not None or seen is not None

    def _weights(self, heads: slice, rows: Tensor, items: slice) -> Tensor:
        scores, masked = self._scores(heads, rows, items)
        weights = softmax(scores, sink=self._sink(heads), masked=masked)
        chosen = range(self.heads)[heads]
        for edit in self.weights_edits:
            pairs = zip(weights, range(self.batch)[items], strict=True)
            each = [edit.edit_weights(matrix, chosen, rows, self, item) for matrix, item in pairs]
            weights = torch.stack(each)
        return weights

    def _sink(self, heads: slice) -> Tensor | None:
        """The sinks of these heads, divided by their temperature."""
        sink = self.score.sink if isinstance(self.score, Dot) else None
        if sink is None or self.temperature is None:
            return None if sink is None else sink[heads]
        return sink[heads] / self.temperature[heads]

    def sink(self, head: int) -> float | None:
        """The score of a head's sink in the softmax; None if it has none."""
        sink = self._sink(slice(head, head + 1))
        return None if sink is None else float(sink.detach())

    def bias_rows(
        self,
        rows: Int[Tensor, " row"] | slice,
        heads: Sequence[int],
        items: slice = slice(None),
        keys: slice = slice(None),
    ) -> Float[Tensor, "#batch #head #row #key"] | None:
        """The rows of the bias for these heads, None if there is no bias; a slice is a view."""
        bias = self.bias
        if bias is None:
            return None
        if isinstance(bias, Tensor):
            bias = bias if bias.shape[0] == 1 else bias[items]
            bias = bias if bias.shape[2] == 1 else bias[:, :, rows]
        else:
            bias = bias(self._rows(rows))[None]
        if bias.shape[1] > 1 and len(heads) < self.heads:
            bias = bias[:, list(heads)]
        return bias if bias.shape[3] == 1 else bias[..., keys]

    def _heads(self, head: int | None) -> slice:
        return index_slice(head, self.heads, "head")

    def _items(self, item: int | None) -> slice:
        return index_slice(item, self.batch, "item")

    def _rows(self, rows: Rows) -> Tensor:
        return positions(rows, self.queries).to(self.device)
