"""How a form is written to files: its figure, its named numbers, and what a saved page holds."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from viz.api.endpoint import Endpoint
from viz.drawing.panels import Panel
from viz.drawing.scene import Scene
from viz.export.request import DOUBT, Request, caption, site_name
from viz.selection import FORM, Form

if TYPE_CHECKING:
    from viz.api.entries import TraceEntry


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
    """

    name: str
    axes: tuple[str, ...]
    values: np.ndarray
    labels: Mapping[str, Sequence[str]] = field(default_factory=dict)
    at: Mapping[str, Any] | Sequence[Mapping[str, Any]] = field(default_factory=dict)
    places: Mapping[str, Sequence[int]] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Content:
    """What a form shows.

    Attributes:
        description: what that is, in a sentence or two.
        panels: the parts of its figure.
        tables: its numbers.
        layers: whether it is about all layers together.
        doubt: what it does not prove.
    """

    description: str
    panels: Sequence[Panel]
    tables: Sequence[Table]
    layers: bool = False
    doubt: str = DOUBT


def nothing(request: Request, entry: "TraceEntry") -> list[str]:
    """What a form asks for that needs maps of weights alone."""
    return []


@dataclass(frozen=True)
class Paper:
    """A form on paper, in numbers, and in a saved page: one of `draws` and `shows`.

    Attributes:
        draws: its figure.
        shows: the parts of a figure whose panels stand below each other, and its numbers.
        asks: the paths that the view asks for beside maps and rows of weights.
        endpoints: the requests that are of this form alone.
        form: its declaration.
    """

    draws: Callable[[Request], Scene] | None = None
    shows: Callable[[Request], Content] | None = None
    asks: Callable[[Request, "TraceEntry"], list[str]] = nothing
    endpoints: tuple[Endpoint, ...] = ()
    form: Form = FORM["matrix"]

    def figure(self, request: Request) -> Scene:
        """The figure."""
        if self.draws is not None:
            return self.draws(request)
        from viz.drawing.panels import panels

        content = self.content(request)
        how = {"layers": content.layers, "grouped": self.form.grouped}
        about = caption(request, content.description, doubt=content.doubt, **how)
        return panels(content.panels, about)

    def content(self, request: Request) -> Content:
        """The parts and numbers of a form that has them.

        Raises:
            ValueError: for one that shows maps of weights.
        """
        if self.shows is None:
            raise ValueError("expected a form with numbers of its own, received one of weights")
        return self.shows(request)


def every_head(request: Request) -> tuple[list[str], list[dict[str, Any]]]:
    """A name for each head, which no other has, and its coordinates."""
    sites = request.view.sites
    several = len({site.layer for site in sites}) < len(sites)
    heads = [(site, head) for site in sites for head in range(site.heads)]
    names = [f"{site_name(site, sites) if several else site.layer}·{head}" for site, head in heads]
    return names, [site.where.coordinates | {"head": head} for site, head in heads]


def given(answer: dict[str, Any]) -> dict[str, Any]:
    """An answer, unless it is one sentence that says why there is none."""
    if "why" in answer:
        raise ValueError(answer["why"])
    return answer


def digits(value: float | None) -> str:
    """Four digits; None is −∞."""
    return "−∞" if value is None else f"{value:.4g}".replace("-", "−")
