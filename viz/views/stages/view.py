"""One head for one token, from queries and keys to what it writes."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from viz.api.endpoint import HEAD, TEXT, WHOLE, Endpoint, path_of
from viz.api.steps import call_of, stages_of, token_of
from viz.colours import scale_of
from viz.selection import Form
from viz.views.answer import Answer, Table
from viz.views.entries import text_entry
from viz.views.request import Request

if TYPE_CHECKING:
    from viz.api.entries import TraceEntry
    from viz.paper import Page

VIEW = Form(
    "stages",
    "Stages",
    "One head for one token, from query and keys to what it writes",
    place=4,
    options=("query",),
    grouped=False,
    module="stages",
)
MATRICES = {
    "q": ("queries", "query", "feature"),
    "k": ("keys", "key", "feature"),
    "products": ("query · key", "query", "key"),
    "scores": ("scores, with bias and mask", "query", "key"),
    "weights": ("weights, after the softmax", "query", "key"),
    "v": ("values", "key", "feature"),
    "output": ("weights × values", "query", "feature"),
    "written": ("what the head writes at the query", "query", "feature"),
}


@dataclass(frozen=True, eq=False, kw_only=True)
class Stages(Answer):
    """The matrices of a head, in order.

    Attributes:
        titles: of each of `MATRICES`.
        missing: why some of them are not there.
    """

    titles: Mapping[str, str]
    missing: str


def answer(request: Request) -> Stages:
    """Every matrix of the head for the query."""
    from analysis.stages import stages

    entry, query = text_entry(request), request.row
    trace, site, head = call_of(entry, request.index, request.heads[0])
    calculation = stages(trace, site, head, token_of(entry, request.index, "out", query))
    labels = {
        "query": [trace.query_labels(site)[i] for i in calculation.rows],
        "key": [trace.key_labels(site)[i] for i in calculation.keys],
    }
    at = site.where.coordinates | {"head": head}
    places = {"query": calculation.rows, "key": calculation.keys}
    titles, tables = {}, []
    for name, (title, rows, cols) in MATRICES.items():
        title = calculation.formula if name == "products" else title
        if name == "output":
            title += ", changed by an edit" if calculation.edited else ""
            title += ", times the output gate" if calculation.gated else ""
        titles[name] = title
        if (tensor := getattr(calculation, name)) is None:
            continue
        values = np.atleast_2d(tensor.numpy(force=True).astype(np.float32))
        first = calculation.chosen
        chosen = slice(first, first + 1) if name == "written" else slice(None)
        named = {rows: labels[rows][chosen], cols: labels.get(cols, ())}
        positions = places | {rows: places[rows][chosen]}
        tables.append(Table(name, (rows, cols), values, named, at, positions))
    token = calculation.rows[calculation.chosen]
    label = trace.query_labels(site)[token]
    description = f"One head for “{label}” ({token}), from queries and keys to what it writes."
    return Stages(description=description, tables=tables, titles=titles, missing=calculation.reason)


def figure(answer: Stages, page: "Page") -> None:
    """The matrices below each other, each with its own colours."""
    from viz.parts import matrix

    tables = {table.name: table for table in answer.tables}
    for name, title in answer.titles.items():
        page.y += 4
        page.heading(title)
        if name not in tables:
            page.lines(answer.missing)
            continue
        table = tables[name]
        rows, cols = (table.labels[axis] for axis in table.axes)
        scale = scale_of(table.values, title)
        matrix(page, [("", table.values)], rows, cols, scale, largest=14.0)


def asks(request: Request, entry: "TraceEntry") -> list[str]:
    """The stages of the query."""
    query = request.row
    return [path_of("stages", site=request.index, head=request.heads[0], query=query)]


ENDPOINTS = (Endpoint("stages", TEXT, stages_of, {**HEAD, "query": WHOLE}),)
