"""Queries and keys of a head on two principal components."""

from typing import TYPE_CHECKING

import numpy as np

from analysis.percent import percent
from viz.api import heads
from viz.api.endpoint import HEAD, TEXT, Endpoint, path_of
from viz.drawing.panels import Points
from viz.export.entries import text_entry
from viz.export.paper import Content, Paper, Table
from viz.export.request import Request

if TYPE_CHECKING:
    from viz.api.entries import TraceEntry


def _vectors(request: Request) -> Content:
    """Queries and keys of a head on two principal components."""
    projected = heads.vectors(text_entry(request), "", request.index, request.heads[0])
    query, key = (
        request.view.query_labels(request.site),
        request.view.key_labels(request.site),
    )
    asks = [query[place] for place in projected["query_indices"]]
    answers = [key[place] for place in projected["key_indices"]]
    points = np.array(
        [(*at, kind) for kind, side in enumerate(("queries", "keys")) for at in projected[side]]
    )
    first, second = (f"{percent(share)} of the variance" for share in projected["explained"])
    axes = (f"component 1, {first}", f"component 2, {second}", "0: a query, 1: a key")
    short = Points("Queries and keys", [*asks, *answers], points, axes)
    at = request.site.where.coordinates | {"head": request.heads[0]}
    components = ["component 1", "component 2"]
    sides = (
        ("queries", "query", asks, projected["query_indices"]),
        ("keys", "key", answers, projected["key_indices"]),
    )
    return Content(
        "Queries and keys of one head on the two principal components of both together.",
        [short],
        [
            Table(
                *(name, (side, "component"), np.array(projected[name], float).reshape(-1, 2)),
                labels={side: labels, "component": components},
                at=at,
                places={side: places},
            )
            for name, side, labels, places in sides
        ],
        doubt="The plane keeps only a part of what a score depends on.",
    )


def _asks(request: Request, entry: "TraceEntry") -> list[str]:
    return [path_of("vectors", site=request.index, head=request.heads[0])]


PAPER = Paper(
    shows=_vectors,
    asks=_asks,
    endpoints=(Endpoint("vectors", TEXT, heads.vectors, HEAD),),
)
