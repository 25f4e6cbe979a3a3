"""Edits: interventions on a forward pass, as values.

Each has a place (layer, head, kind, tower, module; None means all) and does one of three things:
changes the recipe of the weights, the weights after the softmax, or the values of a head before
the output projection. Pass them as `edits=[...]` to a network or to `trace`. Positions of queries
and keys count the item's own tokens, wherever its padding is.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import torch
from jaxtyping import Float
from torch import Tensor

from models.attention import Edge, Edit, Pattern

KINDS = (None, "self", "causal", "cross")
Heads = int | tuple[int, ...] | None
Positions = int | tuple[int, ...] | None


@dataclass(frozen=True)
class Ablate:
    """Ablates heads: their values are replaced before the output projection.

    Attributes:
        layer: which layer; None for all.
        head: which head or heads; None for all.
        how: "zero"; "mean", the head's mean over the tokens of each item; "shuffled", its own
            values dealt to other tokens, by the seed.
        kind: "self", "causal" or "cross"; None for all.
        seed: of the shuffle.
        tower: part of a model with several, as `Site.tower`; None for all.
        module: path of a module, as `Site.module`, or of one that contains it; None for all.
    """

    layer: int | None
    head: Heads
    how: Literal["zero", "mean", "shuffled"] = "zero"
    kind: str | None = None
    seed: int = 0
    tower: str | None = None
    module: str | None = None

    def __post_init__(self) -> None:
        if self.how not in ("zero", "mean", "shuffled"):
            raise ValueError(f"how: expected zero, mean or shuffled, received {self.how!r}")
        _check_kind(self.kind)

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


@dataclass(frozen=True)
class Cut:
    """Masks query–key pairs; the rest of the row is renormalised by the softmax.

    Attributes:
        layer: which layer; None for all.
        head: which head or heads; None for all.
        query: query position or positions; None for all.
        key: key position or positions; None for all.
        kind: "self", "causal" or "cross"; None for all.
        tower: as for `Ablate`.
        module: as for `Ablate`.
    """

    layer: int | None
    head: Heads
    query: Positions
    key: Positions
    kind: str | None = None
    tower: str | None = None
    module: str | None = None

    def __post_init__(self) -> None:
        _check_kind(self.kind)

    def edit_recipe(self, pattern: Pattern) -> Pattern:
        heads = None if self.head is None else tuple(_heads(self.head, pattern.heads).tolist())
        mask = pattern.mask
        queries = _own_positions(self.query, pattern.queries, mask.query_padding, "query")
        keys = _own_positions(self.key, pattern.keys, mask.key_padding, "key")
        return replace(pattern, mask=pattern.mask.without(Edge(heads, queries, keys)))


@dataclass(frozen=True)
class Temperature:
    """Divides the scores before the softmax: below 1 sharper, above 1 flatter.

    Attributes:
        value: a positive number; 1 changes nothing.
        layer: which layer; None for all.
        head: which head or heads; None for all.
        kind: "self", "causal" or "cross"; None for all.
        tower: as for `Ablate`.
        module: as for `Ablate`.
    """

    value: float
    layer: int | None = None
    head: Heads = None
    kind: str | None = None
    tower: str | None = None
    module: str | None = None

    def __post_init__(self) -> None:
        if not self.value > 0:
            raise ValueError(f"temperature: expected a number above 0, received {self.value}")
        _check_kind(self.kind)

    def edit_recipe(self, pattern: Pattern) -> Pattern:
        before = pattern.temperature
        if before is None:
            before = torch.ones(pattern.heads, device=pattern.q.device)
        factor = torch.ones_like(before)
        factor[_heads(self.head, pattern.heads)] = self.value
        return replace(pattern, temperature=before * factor)


def at(
    edits: Sequence[Edit],
    layer: int,
    kind: str,
    tower: str | None = None,
    module: str | None = None,
) -> tuple[Edit, ...]:
    """The edits that apply to one attention layer.

    Args:
        edits: of the forward pass.
        layer: of the site.
        kind: of the site.
        tower: of the site.
        module: path of the site's module.
    """
    return tuple(
        edit
        for edit in edits
        if getattr(edit, "layer", None) in (None, layer)
        and getattr(edit, "kind", None) in (None, kind)
        and getattr(edit, "tower", None) in (None, tower)
        and _contains(getattr(edit, "module", None), module)
    )


def placed(
    edits: Sequence[Edit], places: Sequence[tuple[int, str, str | None, str]]
) -> tuple[Edit, ...]:
    """The edits, with those of a module as edits of the layers, kinds and towers it contains.

    Args:
        edits: of the forward pass of a network of ours.
        places: layer, kind, tower and module path of its attention layers.

    Raises:
        ValueError: for a module that contains no attention layer with the edit's layer and kind.
    """
    found: list[Any] = []
    for edit in edits:
        if getattr(edit, "module", None) is None:
            found.append(edit)
            continue
        moved: Any = edit
        inside = [place for place in places if at([edit], *place)]
        if not inside:
            paths = ", ".join(dict.fromkeys(module for *_, module in places))
            raise ValueError(f"{edit}: expected a module of {paths}")
        found += [
            replace(moved, layer=layer, kind=kind, tower=tower, module=None)
            for layer, kind, tower, _ in inside
        ]
    return tuple(found)


def _contains(path: str | None, module: str | None) -> bool:
    return path is None or f"{module}.".startswith(f"{path}.")


def check(
    edits: Sequence[Edit],
    layers: int,
    kinds: Sequence[str] = ("self",),
    towers: Sequence[str] = (),
) -> None:
    """Raises ValueError for an edit of a layer, a kind or a tower that is not there."""
    for edit in edits:
        layer, kind = getattr(edit, "layer", None), getattr(edit, "kind", None)
        tower = getattr(edit, "tower", None)
        if kind is not None and kind not in kinds:
            raise ValueError(f"{edit}: expected a kind of {', '.join(kinds)}, received {kind!r}")
        if layer is not None and not 0 <= layer < layers:
            raise ValueError(f"{edit}: expected a layer 0 to {layers - 1}, received {layer}")
        if tower is not None and tower not in towers:
            there = f"a tower of {', '.join(towers)}" if towers else "no tower"
            raise ValueError(f"{edit}: expected {there}, received {tower!r}")
        if getattr(edit, "module", None) is not None:
            raise ValueError(f"{edit}: a module is found by trace alone: name layer, kind or tower")


def in_tower(edits: Sequence[Edit], tower: str) -> list[Edit]:
    """The edits that apply to a tower, for the network that the tower is."""
    found: list[Any] = [each for each in edits if getattr(each, "tower", None) in (None, tower)]
    return [replace(each, tower=None) if hasattr(each, "tower") else each for each in found]


def _check_kind(kind: str | None) -> None:
    if kind not in KINDS:
        raise ValueError(f"kind: expected self, causal, cross or None, received {kind!r}")


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
