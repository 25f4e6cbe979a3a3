"""All heads as dots, placed by their numbers."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from viz.api import heads
from viz.api.endpoint import TEXT, Endpoint, path_of
from viz.drawing.panels import Points
from viz.export.entries import text_entry
from viz.export.paper import Content, Paper, Table, every_head
from viz.export.request import Request

if TYPE_CHECKING:
    from viz.api.entries import TraceEntry


def _scatter(request: Request) -> Content:
    entry = text_entry(request)
    answer = heads.numbers(entry, "")
    titles = {each["key"]: each["title"] for each in answer["measures"]} | {"layer": "layer"}
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
        if key not in answer["values"]:
            raise ValueError(f"plot: expected keys of numbers of heads, received {key!r}")
        return [number for coordinates in answer["values"][key] for number in coordinates]

    keys = _axes(request.selection.plot, along)
    columns = [along(key, dimension) for dimension, key in enumerate(keys[:3])]
    values = np.array(columns, dtype=float).T
    titled = [
        f"similarity, axis {i + 1}" if key == "similarity" else titles[key]
        for i, key in enumerate(keys[:3])
    ]
    return Content(
        "One dot for each head, named layer·head, placed by its numbers on this text.",
        [Points("All heads", names, values, (titled[0], titled[1], titled[2]))],
        [Table("heads", ("head", "number"), values, {"head": names, "number": titled}, places)],
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


def _asks(request: Request, entry: "TraceEntry") -> list[str]:
    similar = "similarity" in request.selection.plot
    return [path_of("numbers"), *([path_of("similarity")] if similar else [])]


PAPER = Paper(
    shows=_scatter,
    asks=_asks,
    endpoints=(Endpoint("similarity", TEXT, heads.similarity),),
)
