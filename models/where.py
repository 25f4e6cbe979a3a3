"""`Where`: the address of an attention layer, in traces, edits, links, files and the shell."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from typing import Any


@dataclass(frozen=True, repr=False)
class Where:
    """Which attention layers; None stands for any.

    Attributes:
        layer: the network's own number of the block; blocks without attention count.
        kind: "self", "causal" or "cross".
        tower: part of a model with several: "encoder", "decoder", "vision".
        module: path of an attention module, or of a module that contains it.
        part: which run of its tower, where one pass runs it several times.
    """

    layer: int | None = None
    kind: str | None = None
    tower: str | None = None
    module: str | None = None
    part: int | None = None

    def __repr__(self) -> str:
        return f"Where({', '.join(self.arguments)})"

    @property
    def arguments(self) -> list[str]:
        """The fields that are given, as arguments in Python code."""
        given = self.coordinates.items()
        return [f"{name}={value!r}" for name, value in given if value is not None]

    @property
    def coordinates(self) -> dict[str, Any]:
        """Every field by its name."""
        return {name: getattr(self, name) for name in FIELDS}

    def includes(self, site: "Where") -> bool:
        """Whether a site is one of these, by its full address."""
        return all(self.allows(name, site) for name in FIELDS)

    def allows(self, name: str, site: "Where") -> bool:
        """Whether one field allows a site."""
        asked, value = getattr(self, name), getattr(site, name)
        if name == "module" and asked is not None:
            return f"{value}.".startswith(f"{asked}.")
        return asked is None or asked == value


FIELDS = tuple(field.name for field in fields(Where))
LISTED = 8  # values in a message


@lru_cache(maxsize=64)
def stack(depth: int, kind: str, module: str, tower: str | None = None) -> tuple[Where, ...]:
    """The attention layers of a stack of blocks, one a block.

    Args:
        depth: number of blocks.
        kind: of attention.
        module: its path, with {} for the number of the block.
        tower: that the stack is.
    """
    return tuple(Where(layer, kind, tower, module.format(layer), 0) for layer in range(depth))


def matching(sites: Sequence[Where], where: Where) -> list[int]:
    """The indexes of the sites that an address includes.

    Raises:
        ValueError: if there are none; it names the first field that leaves none.
    """
    indices = [*range(len(sites))]
    for name in FIELDS:
        left = [index for index in indices if where.allows(name, sites[index])]
        if not left:
            raise ValueError(_expected(name, [sites[index] for index in indices], where))
        indices = left
    return indices


def choose(sites: Sequence[Where], where: Where) -> int:
    """The index of the one site that an address includes; layer −1 is the last of its kind.

    Raises:
        ValueError: if there is none, or more than one; it names the field to choose by.
    """
    where = _counted_from_start(sites, where)
    indices = matching(sites, where)
    exact = [index for index in indices if sites[index].module == where.module]
    indices = exact or indices  # a module before those that it contains
    rivals = [sites[index] for index in indices]
    for name in FIELDS:
        if len(_values(name, rivals)) > 1:
            raise ValueError(_expected(name, rivals, where))
    return indices[0]


def short(sites: Iterable[Where], site: Where) -> Where:
    """An address that chooses a site, with its layer, and no other field that all its rivals share.

    Args:
        sites: all that there are, by their full addresses.
        site: one of them.
    """
    place, rivals = Where(), list(sites)
    for name in FIELDS:
        if name == "layer" or len(_values(name, rivals)) > 1:
            place = replace(place, **{name: getattr(site, name)})
            rivals = [each for each in rivals if getattr(each, name) == getattr(site, name)]
    return place


def _counted_from_start(sites: Sequence[Where], where: Where) -> Where:
    """The address with a negative layer counted from the last of the sites it includes."""
    if where.layer is None or where.layer >= 0:
        return where
    rest = replace(where, layer=None)
    layers = sorted({site.layer or 0 for site in sites if rest.includes(site)})
    return replace(where, layer=layers[where.layer]) if -where.layer <= len(layers) else where


def _values(name: str, sites: Iterable[Where]) -> list[object]:
    """What the sites have in one field, each once."""
    return [*dict.fromkeys(getattr(site, name) for site in sites)]


def _expected(name: str, sites: Sequence[Where], where: Where) -> str:
    """What to choose by, and what there is to choose from."""
    values, asked = _values(name, sites), getattr(where, name)
    if name == "layer":
        layers = sorted(site.layer or 0 for site in sites)
        span = f"{layers[0]} to {layers[-1]}"
        known = span if {*layers} == {*range(layers[0], layers[-1] + 1)} else f"one of {values}"
        return f"layer: expected {known}, received {asked}"
    there = "the model" if where.layer is None else f"layer {where.layer}"
    listed = ", ".join(map(repr, values[:LISTED])) + (", …" if len(values) > LISTED else "")
    return f"{name}: {there} has [{listed}], received {asked!r}"
