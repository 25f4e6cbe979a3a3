"""Edits: interventions on a forward pass, as values.

Each has an address (`where`: layer, kind, tower, module, part; None means all) and heads, and does
one of three things: changes the recipe of the weights, the weights after the softmax, or the values
of a head before the output projection. Pass them as `edits=[...]` to a network or to `trace`.
Positions of queries and keys count the item's own tokens, wherever its padding is.
"""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from inspect import Parameter, signature
from typing import Literal, Protocol, runtime_checkable

import torch
from jaxtyping import Float
from torch import Tensor

from models.attention import Edge, Edit, Pattern
from models.where import Where, matching

KINDS = (None, "self", "causal", "cross")
Heads = int | tuple[int, ...] | None
Positions = int | tuple[int, ...] | None


@dataclass(frozen=True, init=False, repr=False)
class Ablate:
    """Ablates heads: their values are replaced before the output projection.

    Attributes:
        where: which layers.
        head: which head or heads; None for all.
        how: "zero"; "mean", the head's mean over the tokens of each item; "shuffled", its own
            values dealt to other tokens, by the seed.
        seed: of the shuffle.
    """

    where: Where
    head: Heads
    how: Literal["zero", "mean", "shuffled"]
    seed: int

    def __init__(
        self,
        layer: int | None,
        head: Heads,
        how: Literal["zero", "mean", "shuffled"] = "zero",
        kind: str | None = None,
        seed: int = 0,
        tower: str | None = None,
        module: str | None = None,
        part: int | None = None,
    ) -> None:
        if how not in ("zero", "mean", "shuffled"):
            raise ValueError(f"how: expected zero, mean or shuffled, received {how!r}")
        where = _address(layer, kind, tower, module, part)
        _set(self, where=where, head=head, how=how, seed=seed)

    def __repr__(self) -> str:
        return _constructor_call(self)

    def edit_values(
        self, values: Float[Tensor, "batch head query dim"], pattern: Pattern
    ) -> Float[Tensor, "batch head query dim"]:
        heads = range(pattern.heads)
        each = [self.edit_rows(own, heads, pattern, item) for item, own in enumerate(values)]
        return torch.stack(each)

    def edit_rows(
        self,
        rows: Float[Tensor, "head query dim"],
        heads: Sequence[int],
        pattern: Pattern,
        item: int,
    ) -> Float[Tensor, "head query dim"]:
        """Replaces the rows of the ablated heads, those of padding aside."""
        chosen = _heads(self.head, pattern.heads).tolist()
        places = [place for place, head in enumerate(heads) if head in chosen]
        if not places:
            return rows
        ablated = torch.tensor(places, device=rows.device)
        real, replaced = _real_queries(pattern, item), rows.clone()
        mine = rows[ablated][:, real]
        replaced[ablated[:, None], real[None, :]] = self._instead(mine, item)
        return replaced

    def _instead(self, mine: Tensor, item: int) -> Tensor:
        if self.how == "zero":
            return torch.zeros_like(mine)
        if self.how == "mean":
            return mine.mean(1, keepdim=True).expand_as(mine)
        dice = torch.Generator().manual_seed(self.seed + item)
        order = torch.randperm(mine.shape[1], generator=dice).to(mine.device)
        return mine[:, order]


@dataclass(frozen=True, init=False, repr=False)
class Cut:
    """Masks query–key pairs; the rest of the row is renormalised by the softmax.

    Attributes:
        where: which layers.
        head: which head or heads; None for all.
        query: query position or positions; None for all.
        key: key position or positions; None for all.
    """

    where: Where
    head: Heads
    query: Positions
    key: Positions

    def __init__(
        self,
        layer: int | None,
        head: Heads,
        query: Positions,
        key: Positions,
        kind: str | None = None,
        tower: str | None = None,
        module: str | None = None,
        part: int | None = None,
    ) -> None:
        where = _address(layer, kind, tower, module, part)
        _set(self, where=where, head=head, query=query, key=key)

    def __repr__(self) -> str:
        return _constructor_call(self)

    def edit_recipe(self, pattern: Pattern) -> Pattern:
        heads = None if self.head is None else tuple(_heads(self.head, pattern.heads).tolist())
        mask = pattern.mask
        queries = _own_positions(self.query, pattern.queries, mask.query_padding, "query")
        keys = _own_positions(self.key, pattern.keys, mask.key_padding, "key")
        return replace(pattern, mask=pattern.mask.without(Edge(heads, queries, keys)))


@dataclass(frozen=True, init=False, repr=False)
class Temperature:
    """Divides the scores before the softmax: below 1 sharper, above 1 flatter.

    Attributes:
        value: a positive number; 1 changes nothing.
        where: which layers.
        head: which head or heads; None for all.
    """

    value: float
    where: Where
    head: Heads

    def __init__(
        self,
        value: float,
        layer: int | None = None,
        head: Heads = None,
        kind: str | None = None,
        tower: str | None = None,
        module: str | None = None,
        part: int | None = None,
    ) -> None:
        if not value > 0:
            raise ValueError(f"temperature: expected a number above 0, received {value}")
        _set(self, value=value, where=_address(layer, kind, tower, module, part), head=head)

    def __repr__(self) -> str:
        return _constructor_call(self)

    def edit_recipe(self, pattern: Pattern) -> Pattern:
        before = pattern.temperature
        if before is None:
            before = torch.ones(pattern.heads, device=pattern.q.device)
        factor = torch.ones_like(before)
        factor[_heads(self.head, pattern.heads)] = self.value
        return replace(pattern, temperature=before * factor)


@runtime_checkable
class Located(Protocol):
    """An edit of some attention layers; one without an address acts on all."""

    @property
    def where(self) -> Where: ...


def at(edits: Sequence[Edit], where: Where) -> tuple[Edit, ...]:
    """The edits that apply to one attention layer, given its full address."""
    return tuple(edit for edit in edits if _where(edit).includes(where))


def check(edits: Sequence[Edit], sites: Sequence[Where]) -> None:
    """Raises ValueError for an edit that applies to none of these attention layers."""
    for edit in edits:
        try:
            matching(sites, _where(edit))
        except ValueError as error:
            raise ValueError(f"{edit}: {error}") from error


def in_tower(edits: Sequence[Edit], sites: Sequence[Where]) -> list[Edit]:
    """The edits that apply to a tower, for the network that the tower is.

    Args:
        edits: of the whole network.
        sites: the tower's attention layers, by their addresses in the whole network.
    """
    return [
        _moved(edit, Where(site.layer))
        for edit in edits
        for site in sites
        if _where(edit).includes(site)
    ]


def _where(edit: Edit) -> Where:
    return edit.where if isinstance(edit, Located) else Where()


def _moved(edit: Edit, where: Where) -> Edit:
    """The same edit at another address."""
    found = copy(edit)
    _set(found, where=where)
    return found


def _address(
    layer: int | None, kind: str | None, tower: str | None, module: str | None, part: int | None
) -> Where:
    if kind not in KINDS:
        raise ValueError(f"kind: expected self, causal, cross or None, received {kind!r}")
    return Where(layer, kind, tower, module, part)


def _set(edit: Edit, **fields: object) -> None:
    """Sets the fields of a frozen edit, for its constructor."""
    for name, value in fields.items():
        object.__setattr__(edit, name, value)


def _constructor_call(edit: "Ablate | Cut | Temperature") -> str:
    """The shortest call that makes an edit."""
    values = {**vars(edit), **vars(edit.where)}
    arguments = []
    for name, parameter in signature(type(edit)).parameters.items():
        if parameter.default is Parameter.empty:
            arguments.append(repr(values[name]))
        elif values[name] != parameter.default:
            arguments.append(f"{name}={values[name]!r}")
    return f"{type(edit).__name__}({', '.join(arguments)})"


def _heads(head: Heads, count: int) -> Tensor:
    chosen = _positions(head, count, "head")
    return torch.arange(count) if chosen is None else torch.tensor(chosen, dtype=torch.long)


def _positions(wanted: Positions, count: int, name: str) -> tuple[int, ...] | None:
    if wanted is None:
        return None
    chosen = (wanted,) if isinstance(wanted, int) else tuple(wanted)
    for position in chosen:
        if not 0 <= position < count:
            raise ValueError(f"{name}: expected 0 to {count - 1}, received {position}")
    return chosen


def _own_positions(
    wanted: Positions, length: int, padding: Tensor | None, name: str
) -> tuple[int, ...] | tuple[tuple[int, ...], ...] | None:
    """Positions among an item's own tokens as positions of the axis, item by item if they differ.

    An item that has fewer tokens keeps those positions that it has.
    """
    if padding is None or wanted is None:
        return _positions(wanted, length, name)
    own = [(~row).nonzero().flatten().tolist() for row in padding]
    chosen = _positions(wanted, max(map(len, own)), name) or ()
    return tuple(tuple(row[each] for each in chosen if each < len(row)) for row in own)


def _real_queries(pattern: Pattern, item: int) -> Tensor:
    """Positions of the item's own tokens: queries are keys, unless the mask says which they are."""
    padding, own = pattern.mask.padding, pattern.mask.query_padding
    everyone = torch.arange(pattern.queries, device=pattern.q.device)
    if own is not None:
        return everyone[~own[item]]
    if padding is None or pattern.queries != pattern.keys:
        return everyone
    return everyone[~padding[item]]
