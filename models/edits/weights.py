"""Edits of attention weights after the softmax: a row or a cell set, a pattern replaced."""

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar, Literal

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from models.attention import Pattern
from models.edits.fields import (
    Layered,
    Numbers,
    assign,
    checked,
    choice,
    edit,
    heads_of,
    joined,
    number,
    numbers,
    place,
    some,
    whole,
)
from models.edits.tokens import own_keys, own_queries, places
from models.where import Where

Rows = Float[Tensor, "head row key"]
Shape = Literal["uniform", "identity", "shift"]


@edit
class SetWeights(Layered):
    """Sets weights of a row, or single cells of it.

    Attributes:
        head: which head or heads; None for all.
        query: whose rows; None for all.
        key: which cells of a row; None for the whole row.
        value: one number for all these cells, or one for each.
        renormalise: whether the row keeps its sum: its other cells are scaled, and where there are
            none, or nothing is left for them, the chosen ones.
    """

    layer: int | None
    head: Numbers
    query: Numbers
    key: Numbers
    value: int | float | Sequence[int | float]
    renormalise: bool = True

    def __post_init__(self) -> None:
        given, several = self.value, isinstance(self.value, Sequence)
        given = given if isinstance(given, Sequence) else (given,)
        values = tuple(number("value", each) for each in given)
        if self.renormalise and min(values, default=0.0) < 0:
            raise ValueError(
                f"value: expected 0 or more in a row that keeps its sum, received {self.value}"
            )
        assign(self, value=values if several else values[0], renormalise=bool(self.renormalise))
        checked(self, numbers, "head", "query", "key")
        if several and isinstance(self.key, tuple):
            self._check_count(len(self.key))

    def _check_count(self, keys: int) -> None:
        """Raises ValueError unless there is one value, or one for each key."""
        if isinstance(self.value, tuple) and len(self.value) != keys:
            raise ValueError(
                f"value: expected one number, or {keys}, one for each key, received"
                f" {len(self.value)}"
            )

    def describe(self) -> str:
        """What the edit does, in one sentence."""
        values = self.value if isinstance(self.value, tuple) else (self.value,)
        to = joined(f"{each:g}" for each in values)
        rest = "the row keeps its sum" if self.renormalise else "the row need not sum to 1"
        give = "give" if isinstance(self.query, tuple) and len(self.query) > 1 else "gives"
        weight = "weights" if isinstance(self.value, tuple) else "weight"
        who, whom = some(self.query, "query"), some(self.key, "key")
        here = place(self.where, self.head)
        return f"{here}: {who} {give} {whom} the {weight} {to}; {rest}."

    @property
    def reads_all_tokens(self) -> bool:
        """Whether it depends on all tokens of an item."""
        return self.key is None

    def edit_weights(
        self, weights: Rows, heads: Sequence[int], rows: Tensor, pattern: Pattern, item: int
    ) -> Rows:
        queries = places(self.query, own_queries(pattern, item), "query")
        here = _rows(self.head, queries, heads, rows, pattern)
        keys = places(self.key, own_keys(pattern, item), "key")
        values = torch.tensor(self.value, dtype=weights.dtype, device=weights.device)
        self._check_count(len(keys))
        cells = torch.zeros_like(weights[0, 0], dtype=torch.bool)
        cells[keys] = True
        edited = weights.clone()
        edited[..., keys] = values.expand(len(keys))
        if self.renormalise:
            seen = visible(pattern, heads, rows, item)
            edited = _keeping_sum(edited, weights.sum(-1, keepdim=True), cells, seen)
        return torch.where(here, edited, weights)


def _rows(
    head: Numbers, queries: Tensor, heads: Sequence[int], rows: Tensor, pattern: Pattern
) -> Bool[Tensor, "head row 1"]:
    """Which rows of some heads are those of an edit's heads and queries."""
    edited = heads_of(head, pattern.heads)
    mine = torch.tensor([each in edited for each in heads], device=rows.device)
    return (mine[:, None] & torch.isin(rows, queries))[..., None]


def _keeping_sum(
    edited: Rows, total: Tensor, cells: Bool[Tensor, " key"], seen: Bool[Tensor, "head row key"]
) -> Rows:
    """Rows scaled to a sum: the cells that were set stay, if what is left can go to others."""
    given = (edited * cells).sum(-1, keepdim=True)
    left = (total - given).clamp(min=0)
    rest = edited.masked_fill(cells, 0)
    others = rest.sum(-1, keepdim=True)
    free = seen & ~cells
    even = free / free.sum(-1, keepdim=True).clamp(min=1)
    share = torch.where(others > 0, rest / others.clamp(min=torch.finfo(rest.dtype).tiny), even)
    whole = (edited * cells) * torch.where(
        free.any(-1, keepdim=True) & (given <= total), 1.0, total / given.clamp(min=1e-30)
    )
    return whole + left * share


@edit
class UsePattern(Layered):
    """Replaces the weights of heads by those of another head, or by a fixed pattern.

    Attributes:
        head: which head or heads; None for all.
        use: another head of the same layer, by its number, as the softmax gives its weights; or
            "uniform", equal weights on every key that the query may see; "identity", each token on
            itself; "shift", each on the token `by` places before it.
        by: of "shift"; negative for later tokens. A query that has no such key, or may not see it,
            attends to itself.
    """

    reads_all_tokens: ClassVar[bool] = False
    layer: int | None
    head: Numbers
    use: int | Shape
    by: int = 1

    def __post_init__(self) -> None:
        if isinstance(self.use, str):
            choice("use", self.use, ("uniform", "identity", "shift"))
        else:
            whole("use", self.use)
        checked(self, whole, "by")
        checked(self, numbers, "head")

    def describe(self) -> str:
        """What the edit does, in one sentence."""
        side = "before" if self.by >= 0 else "after"
        far = "" if abs(self.by) == 1 else f"{abs(self.by)} places "
        uses = {
            "uniform": "each token attends equally to every key that it may see",
            "identity": "each token attends to itself alone",
            "shift": f"each token attends to the one {far}{side} it alone",
        }
        other = f"each token attends as in head {self.use}"
        return f"{place(self.where, self.head)}: {uses.get(str(self.use), other)}."

    def bound(self, site: Where) -> "UsePattern":
        """Itself, at a site whose queries are among its keys where it needs them to be.

        Raises:
            ValueError: for a token's own key, or one near it, in cross-attention.
        """
        if site.kind == "cross" and self.use in ("identity", "shift"):
            raise ValueError(
                f"{self}: expected queries that are keys as well, cross-attention has other ones"
            )
        return self

    def edit_weights(
        self, weights: Rows, heads: Sequence[int], rows: Tensor, pattern: Pattern, item: int
    ) -> Rows:
        here = _rows(self.head, own_queries(pattern, item), heads, rows, pattern)
        if not here.any():
            return weights
        instead = self._instead(heads, rows, pattern, item).to(weights.dtype)
        return torch.where(here, instead, weights)

    def _instead(self, heads: Sequence[int], rows: Tensor, pattern: Pattern, item: int) -> Tensor:
        if isinstance(self.use, int):
            (other,) = heads_of(self.use, pattern.heads)
            plain = replace(pattern, weights_edits=())
            return plain.weights(other, rows, item=item)[None]
        seen = visible(pattern, heads, rows, item)
        if self.use == "uniform":
            return seen / seen.sum(-1, keepdim=True).clamp(min=1)
        return self._shifted(seen, rows, pattern, item)

    def _shifted(
        self, seen: Bool[Tensor, "head row key"], rows: Tensor, pattern: Pattern, item: int
    ) -> Float[Tensor, "head row key"]:
        """Full weight on the token itself, or on one before it."""
        queries, keys = own_queries(pattern, item), own_keys(pattern, item)
        if len(keys) != len(queries):
            raise ValueError(
                f"{self}: expected queries that are keys as well, received {len(queries)} queries"
                f" and {len(keys)} keys"
            )
        number = torch.searchsorted(queries, rows).clamp(max=len(queries) - 1)
        itself = keys[number]
        wanted = number - (self.by if self.use == "shift" else 0)
        there = (wanted >= 0) & (wanted < len(keys))
        key = keys[wanted.clamp(0, len(keys) - 1)]
        open_ = seen.gather(-1, key.expand(len(seen), -1)[..., None])[..., 0] & there
        target = torch.where(open_, key, itself)
        return torch.zeros(seen.shape, device=seen.device).scatter(-1, target[..., None], 1.0)


def visible(
    pattern: Pattern, heads: Sequence[int], rows: Int[Tensor, " row"], item: int
) -> Bool[Tensor, "head row key"]:
    """Which of an item's own keys some queries of some heads may attend to."""
    scores = torch.stack([pattern.scores(head, rows, item=item) for head in heads])
    seen = scores.detach() > -torch.inf
    rule = pattern.mask.visible(rows, pattern.keys, heads)
    if rule is not None:
        seen &= rule[item if len(rule) > 1 else 0]
    keys = torch.zeros(pattern.keys, dtype=torch.bool, device=seen.device)
    keys[own_keys(pattern, item)] = True
    return seen & keys
