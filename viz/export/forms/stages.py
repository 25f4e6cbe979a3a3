"""One head for one token, from queries and keys to what it writes."""

from typing import TYPE_CHECKING

import numpy as np

from viz.api.endpoint import HEAD, TEXT, WHOLE, Endpoint, path_of
from viz.api.steps import call_of, stages_of, token_of
from viz.drawing.panels import Grid, Lines, Panel
from viz.export.entries import text_entry
from viz.export.paper import Content, Paper, Table
from viz.export.request import Request

if TYPE_CHECKING:
    from viz.api.entries import TraceEntry


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


def _stages(request: Request) -> Content:
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
    panels: list[Panel] = []
    tables = []
    for name, (title, rows, cols) in MATRICES.items():
        title = calculation.formula if name == "products" else title
        if name == "output":
            title += ", changed by an edit" if calculation.edited else ""
            title += ", times the output gate" if calculation.gated else ""
        given = getattr(calculation, name)
        if given is None:
            panels.append(Lines(title, [calculation.reason]))
            continue
        values = np.atleast_2d(given.numpy(force=True).astype(np.float32))
        chosen = (
            slice(calculation.chosen, calculation.chosen + 1) if name == "written" else slice(None)
        )
        across, down = labels[rows][chosen], labels.get(cols, ())
        panels.append(Grid(title, values, across, down, words=title))
        named = places | {rows: places[rows][chosen]}
        tables.append(Table(name, (rows, cols), values, {rows: across, cols: down}, at, named))
    token = calculation.rows[calculation.chosen]
    label = trace.query_labels(site)[token]
    description = f"One head for “{label}” ({token}), from queries and keys to what it writes."
    return Content(description, panels, tables)


def _asks(request: Request, entry: "TraceEntry") -> list[str]:
    query = request.row
    return [path_of("stages", site=request.index, head=request.heads[0], query=query)]


PAPER = Paper(
    shows=_stages,
    asks=_asks,
    endpoints=(Endpoint("stages", TEXT, stages_of, {**HEAD, "query": WHOLE}),),
)
