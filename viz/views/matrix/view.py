"""The weights of a head as cells."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from viz.api import filters, text
from viz.api.endpoint import AXIS, HEAD, TEXT, Endpoint, options, path_of
from viz.api.requests import one_of
from viz.caption import noun_of
from viz.colours import INK, Scale, change_scale, score_scale, weight_scale
from viz.selection import CUT, Form
from viz.values import whole
from viz.views.answer import Answer
from viz.views.request import (
    Request,
    drawn_of,
    labels_of,
    name_of,
    rows_and_columns,
    strongest_of,
    top_of,
    weights_of,
)
from viz.views.sinks import hidden_of, hidden_sentence

if TYPE_CHECKING:
    from viz.api.entries import TraceEntry
    from viz.paper import Page

VIEW = Form(
    "matrix",
    "Matrix",
    "Each weight as a cell: rows attend, columns are attended to",
    place=0,
    of_weights=True,
    options=("scale", "values", *CUT),
    module="matrix",
)


@dataclass(frozen=True, eq=False, kw_only=True)
class Matrix(Answer):
    """Cells of heads.

    Attributes:
        maps: name and numbers "query key" of each head.
        query: labels of the rows.
        key: labels of the columns.
        scale: of the colours.
        marks: of each head, cells that are outlined; () for none.
        hidden: columns that are left out.
        shares: of each head, what each row gives to those; () for none.
    """

    maps: Sequence[tuple[str, np.ndarray]]
    query: Sequence[str]
    key: Sequence[str]
    scale: Scale
    marks: Sequence[np.ndarray] = ()
    hidden: Sequence[int] = ()
    shares: Sequence[np.ndarray] = ()


def answer(request: Request) -> Matrix:
    """The numbers of the heads, with what is outlined and what is left out."""
    maps = [(name_of(head), drawn_of(request, head, "matrix")) for head in request.heads]
    query, key = labels_of(request)
    description = (
        f"Rows are queries (the {noun_of(query)} that attends), columns are keys (the"
        f" {noun_of(key)} attended to)."
    )
    top = request.selection.top
    marks = [strongest_of(weights_of(request, head), top) for head in request.heads] if top else ()
    rows, columns = rows_and_columns(request)
    hidden = hidden_of(request, rows)
    description += f" {hidden_sentence(request, hidden)}" if hidden else ""
    description += f" The {top} strongest keys of each row are outlined." if top else ""
    return Matrix(
        description=description,
        maps=maps if len(maps) > 1 else [("", maps[0][1])],
        query=query,
        key=key,
        scale=_scale(request, maps),
        marks=marks,
        hidden=[key - columns.start for key in hidden.keys if key in columns] if hidden else (),
        shares=hidden.shares if hidden else (),
    )


def _scale(request: Request, maps: Sequence[tuple[str, np.ndarray]]) -> Scale:
    """The colours of a matrix."""
    if request.selection.values == "scores":
        return score_scale(np.concatenate([values.ravel() for _, values in maps]))
    if request.selection.values == "difference":
        return change_scale(max(float(np.abs(values).max(initial=0)) for _, values in maps))
    if request.selection.scale == "log":
        return Scale("log", 0.0, 1.0, "attention weight, logarithmic from 10⁻⁶ to 1")
    return weight_scale(top_of(request, maps))


def figure(answer: Matrix, page: "Page") -> None:
    """A matrix for each head."""
    from viz.parts import matrix

    query, key = noun_of(answer.query), noun_of(answer.key)
    axes = f"rows ↓ query: the {query} that attends · columns → key: the {key} attended to"
    page.lines(axes, colour=INK.muted)
    page.y += 4
    matrix(
        page,
        answer.maps,
        answer.query,
        answer.key,
        answer.scale,
        marks=answer.marks,
        hidden=answer.hidden,
        shares=answer.shares,
    )


def asks(request: Request, entry: "TraceEntry") -> list[str]:
    """Maps that are not of plain weights."""
    chosen = request.selection
    variant = {"values": chosen.values}
    if chosen.values != "difference":  # which hides no sinks and has one scale
        variant |= {"sinks": chosen.sinks} | ({"coding": "log"} if chosen.scale == "log" else {})
    if variant == {"values": "weights", "sinks": "shown"}:
        return []
    return [path_of("map", site=request.index, head=head, **variant) for head in request.heads]


VALUES = one_of(*text.VALUES)
PARTS = options("rows", "columns", "sinks")
TOP = {"top": whole(1, 64)}
ENDPOINTS = (
    Endpoint(
        "map",
        TEXT,
        text.map_of,
        HEAD,
        {**options("rows", "columns", "sinks"), "values": VALUES, "coding": one_of("sqrt", "log")},
        text.weights_read,
    ),
    Endpoint(
        "row",
        TEXT,
        text.row_of,
        {**HEAD, **AXIS},
        {**options("sinks"), "values": VALUES},
        text.row_reads,
    ),
    Endpoint("sharpest", TEXT, text.sharpest, HEAD),
    Endpoint("changed", TEXT, text.changed, cost=text.every_weight),
    Endpoint("hidden", TEXT, filters.hidden_of, HEAD, {**PARTS, **options("least"), **TOP}),
    Endpoint("strongest", TEXT, filters.strongest_of, {**HEAD, **TOP}, PARTS),
)
