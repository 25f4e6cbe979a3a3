"""What a view shows: arrays with named axes, and the words beside them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from viz.views.request import DOUBT, Request, site_name


@dataclass(frozen=True, eq=False)
class Table:
    """Numbers with named axes.

    Attributes:
        name: of the numbers.
        axes: a name for each axis.
        values: the numbers.
        labels: of the places along an axis, by its name.
        at: the coordinates that all numbers share, or those of each place along a first axis
            "head"; of sites as `Where.coordinates` gives them.
        places: positions along an axis that does not start at 0 or skips some, by its name.
        title: above them in a figure.
        words: of their colours there.
    """

    name: str
    axes: tuple[str, ...]
    values: np.ndarray
    labels: Mapping[str, Sequence[str]] = field(default_factory=dict)
    at: Mapping[str, Any] | Sequence[Mapping[str, Any]] = field(default_factory=dict)
    places: Mapping[str, Sequence[int]] = field(default_factory=dict)
    title: str = ""
    words: str = ""


@dataclass(frozen=True, eq=False, kw_only=True)
class Answer:
    """What a view shows; that of a view may have more, for its figure.

    Attributes:
        description: what that is, in a sentence or two.
        tables: its numbers; () where these are weights of heads.
        layers: whether it is about all layers together.
        doubt: what it does not prove.
    """

    description: str
    tables: Sequence[Table] = ()
    layers: bool = False
    doubt: str = DOUBT


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
