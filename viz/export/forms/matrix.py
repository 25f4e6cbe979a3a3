"""The weights of a head as cells."""

from typing import TYPE_CHECKING

import numpy as np

from viz.api import filters
from viz.api.endpoint import HEAD, TEXT, Endpoint, options, path_of
from viz.drawing.scales import Scale, score_scale, weight_scale
from viz.drawing.scene import Scene
from viz.export.paper import Paper
from viz.export.request import (
    Request,
    caption,
    drawn_of,
    labels_of,
    name_of,
    rows_and_columns,
    strongest_of,
    top_of,
    weights_of,
)
from viz.export.sinks import hidden_of, hidden_sentence
from viz.values import whole

if TYPE_CHECKING:
    from viz.api.entries import TraceEntry


def _matrix(request: Request) -> Scene:
    from viz.drawing.matrix import matrix
    from viz.drawing.parts import noun_of

    maps = [(name_of(head), drawn_of(request, head, "matrix")) for head in request.heads]
    query, key = labels_of(request)
    description = (
        f"Rows are queries (the {noun_of(query)} that attends), columns are keys (the"
        f" {noun_of(key)} attended to)."
    )
    top = request.selection.top
    marks = [strongest_of(weights_of(request, head), top) for head in request.heads] if top else ()
    scale = _scale(request, maps)
    rows, columns = rows_and_columns(request)
    hidden = hidden_of(request, rows)
    description += f" {hidden_sentence(request, hidden)}" if hidden else ""
    description += f" The {top} strongest keys of each row are outlined." if top else ""
    return matrix(
        maps,
        query,
        key,
        caption(request, description),
        scale=scale,
        marks=marks,
        hidden=[key - columns.start for key in hidden.keys if key in columns] if hidden else (),
        shares=hidden.shares if hidden else (),
    )


def _scale(request: Request, maps: list[tuple[str, np.ndarray]]) -> Scale:
    """The colours of a matrix."""
    if request.selection.values == "scores":
        return score_scale(np.concatenate([values.ravel() for _, values in maps]))
    if request.selection.values == "difference":
        most = max(float(np.abs(values).max(initial=0)) for _, values in maps)
        return Scale("signed", -most, most, "change of the weight, square-root scale")
    if request.selection.scale == "log":
        return Scale("log", 0.0, 1.0, "attention weight, logarithmic from 10⁻⁶ to 1")
    return weight_scale(top_of(request, maps))


def _asks(request: Request, entry: "TraceEntry") -> list[str]:
    """Maps that are not of plain weights."""
    chosen = request.selection
    variant = {"values": chosen.values}
    if chosen.values != "difference":  # which hides no sinks and has one scale
        variant |= {"sinks": chosen.sinks} | ({"coding": "log"} if chosen.scale == "log" else {})
    if variant == {"values": "weights", "sinks": "shown"}:
        return []
    return [path_of("map", site=request.index, head=head, **variant) for head in request.heads]


PARTS = options("rows", "columns", "sinks")
TOP = {"top": whole(1, 64)}
PAPER = Paper(
    draws=_matrix,
    asks=_asks,
    endpoints=(
        Endpoint("hidden", TEXT, filters.hidden_of, HEAD, {**PARTS, **options("least"), **TOP}),
        Endpoint("strongest", TEXT, filters.strongest_of, {**HEAD, **TOP}, PARTS),
    ),
)
