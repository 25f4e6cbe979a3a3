"""What a view shows: arrays with named axes, and the words beside them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from viz.views.request import (
    DOUBT,
    One,
    Request,
    drawn_of,
    labels_of,
    rows_and_columns,
    site_name,
)
from viz.views.sinks import hidden_of


@dataclass(frozen=True, eq=False)
class Table:
    """Numbers with named axes.

    Attributes:
        name: of the numbers.
        axes: a name for each axis.
        numbers: they themselves, or what computes them whenever they are read.
        labels: of the places along an axis, by its name.
        at: the coordinates that all numbers share, or those of each place along a first axis
            "head"; of sites as `Where.coordinates` gives them.
        places: positions along an axis that does not start at 0 or skips some, by its name.
        title: above them in a figure.
        words: of their colours there.
        heads: of a first axis "head" whose places share their other coordinates.
        stem: what names beside the numbers begin with in .npz; the name of the numbers by default.
        column: of the numbers in .csv, where no others stand beside them.
        more: arrays beside the numbers in .npz, or what computes them.
    """

    name: str
    axes: tuple[str, ...]
    numbers: np.ndarray | Callable[[], np.ndarray]
    labels: Mapping[str, Sequence[str]] = field(default_factory=dict)
    at: Mapping[str, Any] | Sequence[Mapping[str, Any]] = field(default_factory=dict)
    places: Mapping[str, Sequence[int]] = field(default_factory=dict)
    title: str = ""
    words: str = ""
    heads: Sequence[One] = ()
    stem: str | None = None
    column: str = ""
    more: Callable[[], Mapping[str, np.ndarray]] = dict

    @property
    def values(self) -> np.ndarray:
        """The numbers."""
        return self.numbers() if callable(self.numbers) else self.numbers


@dataclass(frozen=True, eq=False, kw_only=True)
class Answer:
    """What a view shows; that of a view may have more, for its figure.

    Attributes:
        description: what that is, in a sentence or two.
        tables: its numbers.
        layers: whether it is about all layers together.
        doubt: what it does not prove.
    """

    description: str
    tables: Sequence[Table] = ()
    layers: bool = False
    doubt: str = DOUBT


def weight_tables(request: Request) -> list[Table]:
    """The weights of heads that are shown, a table for each layer, computed when they are read."""

    def table(one: Request) -> Table:
        rows, columns = rows_and_columns(one)
        query, key = labels_of(one)
        stem, name = f"site_{one.index}_" if request.every else "", request.selection.values

        def left_out() -> Mapping[str, np.ndarray]:
            hidden = hidden_of(one, rows)
            if hidden is None:
                return {}
            return {"hidden_keys": np.array(hidden.keys), "hidden_share": np.stack(hidden.shares)}

        return Table(
            f"{stem}{name}",
            ("head", "query", "key"),
            lambda: np.stack([drawn_of(one, head) for head in one.heads]),
            {"query": query, "key": key},
            one.site.where.coordinates,
            {"query": rows, "key": columns},
            heads=one.heads,
            stem=stem,
            column=name.removesuffix("s"),
            more=left_out,
        )

    return [table(request.at(site)) for site in request.sites]


def every_head(request: Request) -> tuple[list[str], list[dict[str, Any]]]:
    """A name for each head, which no other has, and its coordinates."""
    sites = request.view.sites
    several = len({site.layer for site in sites}) < len(sites)
    heads = [(site, head) for site in sites for head in range(site.heads)]
    names = [f"{site_name(site, sites) if several else site.layer}·{head}" for site, head in heads]
    return names, [site.where.coordinates | {"head": head} for site, head in heads]


def digits(value: float | None) -> str:
    """Four digits; None is −∞."""
    return "−∞" if value is None else f"{value:.4g}".replace("-", "−")
