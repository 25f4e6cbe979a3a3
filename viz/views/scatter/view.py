"""All heads as dots, placed by their numbers."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from viz.api import heads
from viz.api.endpoint import TEXT, Endpoint, path_of
from viz.colours import INK, Scale
from viz.selection import Form
from viz.views.answer import Answer, Table, every_head
from viz.views.entries import text_entry
from viz.views.request import Request

if TYPE_CHECKING:
    from viz.api.entries import TraceEntry
    from viz.paper import Page

VIEW = Form(
    "scatter",
    "Heads as dots",
    "All heads by two of their numbers",
    place=11,
    options=("plot",),
    covers="every",
    chooses=(("overview", "scatter"),),
)


def answer(request: Request) -> Answer:
    """Three numbers of each head: along x and y, and in colour."""
    entry = text_entry(request)
    response = heads.numbers(entry, "")
    titles = {each["key"]: each["title"] for each in response["measures"]} | {"layer": "layer"}
    sites = request.view.sites
    names, places = every_head(request)

    def along(key: str, dimension: int) -> list[float | None]:
        if key == "layer":
            return [float(site.layer) for site in sites for _ in range(site.heads)]
        if key == "similarity":
            points = heads.similarity(entry, "")["points"]
            return [
                None if p is None else p[dimension] for coordinates in points for p in coordinates
            ]
        if key not in response["values"]:
            raise ValueError(f"plot: expected keys of numbers of heads, received {key!r}")
        return [number for coordinates in response["values"][key] for number in coordinates]

    keys = _axes(request.selection.plot, along)
    columns = [along(key, dimension) for dimension, key in enumerate(keys[:3])]
    values = np.array(columns, dtype=float).T
    titled = [
        f"similarity, axis {i + 1}" if key == "similarity" else titles[key]
        for i, key in enumerate(keys[:3])
    ]
    labels = {"head": names, "number": titled}
    return Answer(
        description="One dot for each head, named layer·head, placed by its numbers on this text.",
        tables=[Table("heads", ("head", "number"), values, labels, places)],
    )


def _axes(
    plot: Sequence[str], along: Callable[[str, int], list[float | None]]
) -> tuple[str, str, str]:
    """What is along x and y and in colour; what is not chosen is a number that is defined."""
    x, y, colour = [*plot, *[""] * (3 - len(plot))]
    if "similarity" in (x, y):
        return "similarity", "similarity", colour or "layer"
    first = [key for key in ("distance", "entropy") if any(n is not None for n in along(key, 0))]
    return x or (first[0] if first else "entropy"), y or "broad", colour or "layer"


def figure(answer: Answer, page: "Page") -> None:
    """Named dots in the colour of the third number."""
    (table,) = answer.tables
    kept = np.flatnonzero(np.isfinite(table.values[:, :2]).all(1))
    page.heading("All heads")
    if not len(kept):
        page.lines("No head has both numbers.", colour=INK.muted)
        return
    x, y, third = table.values[kept].T
    seen = third[np.isfinite(third)]
    low, high = (float(seen.min()), float(seen.max())) if seen.size else (0.0, 1.0)
    words = table.labels["number"]
    scale = Scale("linear", low, high, words[2])
    axes = page.plot(300.0, words[0], words[1])
    look = {"edgecolors": INK.text, "linewidths": 0.3}
    axes.scatter(x, y, s=20, c=scale.colours(third) / 255, **look)
    for dot, at in zip(kept.tolist(), zip(x, y, strict=True), strict=True):
        name = table.labels["head"][dot]
        label = {"textcoords": "offset points", "fontsize": 4.5, "color": INK.muted}
        axes.annotate(name, at, (3.2, 1.6), **label)
    page.bar(scale)


def asks(request: Request, entry: "TraceEntry") -> list[str]:
    """Numbers of heads, and where they lie by their similarity."""
    similar = "similarity" in request.selection.plot
    return [path_of("numbers"), *([path_of("similarity")] if similar else [])]


ENDPOINTS = (Endpoint("similarity", TEXT, heads.similarity),)
