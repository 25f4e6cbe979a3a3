"""The weights of a head as cells."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from viz.api import text
from viz.api.endpoint import BOTH, IMAGE, TEXT, Endpoint, path_of
from viz.api.entries import TraceEntry
from viz.api.requests import one_of
from viz.caption import noun_of
from viz.colours import INK, Scale, change_scale, score_scale, weight_scale
from viz.selection import CUT, Form
from viz.values import whole
from viz.views.answer import Answer, weight_tables
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
    from analysis.filters import Hidden
    from analysis.overview import Head, RowSource
    from models.trace import Site
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
        tables=weight_tables(request, "matrix"),
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


def asks(request: Request, entry: TraceEntry) -> list[str]:
    """Maps that are not of plain weights."""
    chosen = request.selection
    variant = {"values": chosen.values}
    if chosen.values != "difference":  # which hides no sinks and has one scale
        variant |= {"sinks": chosen.sinks}
    if variant == {"values": "weights", "sinks": "shown"}:
        return []
    return [path_of("map", site=request.index, head=head, **variant) for head in request.heads]


# ---- filters


@dataclass(frozen=True)
class Strongest:
    """The keys with the largest weights of each row, from the first row on."""

    first: int
    keys: list[list[int]]


def hidden(
    entry: TraceEntry,
    site: int,
    head: "Head",
    rows: range | None = None,
    columns: range | None = None,
    least: float = 0.0,
    top: int | None = None,
    sinks: str = "shown",
) -> "Hidden":
    """The share of the weight that is shown, without sinks where these are hidden, that filters
    leave out."""
    from analysis.filters import hidden

    of = _filtered(entry, site, head, rows, columns, sinks)
    return hidden(*of, least=least, top=top)


def strongest(
    entry: TraceEntry,
    site: int,
    head: "Head",
    top: int,
    rows: range | None = None,
    columns: range | None = None,
    sinks: str = "shown",
) -> Strongest:
    """The strongest keys of each row, sinks left out where these are hidden."""
    from analysis.filters import strongest

    of = _filtered(entry, site, head, rows, columns, sinks)
    return Strongest(of[3].start, strongest(*of, top).tolist())


def _filtered(
    entry: TraceEntry,
    site: int,
    head: "Head",
    rows: range | None,
    columns: range | None,
    sinks: str,
) -> "tuple[RowSource, Site, Head, range, range]":
    where = text.site_at(entry.view, site, head)
    source, _ = text.source_of(entry.view, where, "weights", sinks, entry.answers)
    spans = text.within("rows", rows, where.queries), text.within("columns", columns, where.keys)
    return source, where, head, *spans


VALUES = one_of(*text.VALUES)
ENDPOINTS = (
    Endpoint("overview", TEXT, text.overview),
    Endpoint("tokens", IMAGE, text.overview),
    Endpoint("map", BOTH, text.map_of, text.weights_read, values=VALUES),
    Endpoint("row", BOTH, text.row_of, text.row_reads, values=VALUES),
    Endpoint("changed", BOTH, text.changed, text.every_weight),
    Endpoint("hidden", BOTH, hidden, top=whole(1, 64)),
    Endpoint("strongest", BOTH, strongest, top=whole(1, 64)),
)
