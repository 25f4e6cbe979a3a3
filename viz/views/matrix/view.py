"""The weights of a head as cells."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from viz.api.endpoint import path_of
from viz.api.entries import TraceEntry
from viz.caption import noun_of
from viz.colours import INK, Scale, change_scale, score_scale, weight_scale
from viz.selection import CUT, Form
from viz.views.answer import Answer, weight_tables
from viz.views.request import (
    Request,
    drawn_of,
    labels_of,
    name_of,
    rows_and_columns,
    top_of,
)
from viz.views.sinks import hidden_of, hidden_sentence

if TYPE_CHECKING:
    from viz.paper import Page

VIEW = Form(
    "matrix",
    "Matrix",
    "Each weight as a cell: rows attend, columns are attended to",
    place=0,
    of_weights=True,
    options=("scale", "values", *CUT),
    module="matrix",
    pictured=True,
)


@dataclass(frozen=True, eq=False, kw_only=True)
class Matrix(Answer):
    """Cells of heads.

    Attributes:
        maps: name and numbers "query key" of each head.
        query: labels of the rows.
        key: labels of the columns.
        scale: of the colours.
        hidden: columns that are left out.
    """

    maps: Sequence[tuple[str, np.ndarray]]
    query: Sequence[str]
    key: Sequence[str]
    scale: Scale
    hidden: Sequence[int] = ()


def answer(request: Request) -> Matrix:
    """The numbers of the heads, with what is left out."""
    maps = [(name_of(head), drawn_of(request, head)) for head in request.heads]
    query, key = labels_of(request)
    description = (
        f"Rows are queries (the {noun_of(query)} that attends), columns are keys (the"
        f" {noun_of(key)} attended to)."
    )
    rows, columns = rows_and_columns(request)
    hidden = hidden_of(request, rows)
    description += f" {hidden_sentence(request, hidden)}" if hidden else ""
    return Matrix(
        description=description,
        tables=weight_tables(request),
        maps=maps if len(maps) > 1 else [("", maps[0][1])],
        query=query,
        key=key,
        scale=_scale(request, maps),
        hidden=[key - columns.start for key in hidden.keys if key in columns] if hidden else (),
    )


def _scale(request: Request, maps: Sequence[tuple[str, np.ndarray]]) -> Scale:
    """The colours of a matrix."""
    if request.selection.values == "scores":
        return score_scale(np.concatenate([values.ravel() for _, values in maps]))
    if request.selection.values == "difference":
        return change_scale(max(float(np.abs(values).max(initial=0)) for _, values in maps))
    return weight_scale(top_of(request, maps))


def figure(answer: Matrix, page: "Page") -> None:
    """A matrix for each head."""
    from viz.parts import matrix

    query, key = noun_of(answer.query), noun_of(answer.key)
    axes = f"rows ↓ query: the {query} that attends · columns → key: the {key} attended to"
    page.lines(axes, colour=INK.muted)
    page.y += 4
    matrix(page, answer.maps, answer.query, answer.key, answer.scale, hidden=answer.hidden)


def asks(request: Request, entry: TraceEntry) -> list[str]:
    """Maps that are not of plain weights."""
    chosen = request.selection
    variant = {"values": chosen.values}
    if chosen.values != "difference":  # which hides no sinks and has one scale
        variant |= {"sinks": chosen.sinks}
    if variant == {"values": "weights", "sinks": "shown"}:
        return []
    return [path_of("map", site=request.index, head=head, **variant) for head in request.heads]
