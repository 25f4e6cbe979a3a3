"""One pair of tokens: query and key element by element, and the steps to the weight."""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from viz.api import heads
from viz.api.endpoint import HEAD, PAIR, TEXT, Endpoint, path_of
from viz.api.steps import pair_of
from viz.drawing.panels import Grid, Lines, Panel
from viz.export.entries import text_entry
from viz.export.paper import Content, Paper, Table, digits
from viz.export.request import Request

if TYPE_CHECKING:
    from viz.api.entries import TraceEntry


def _query_key(request: Request) -> Content:
    choice, entry = request.selection, text_entry(request)
    query, key = request.row, choice.key or 0
    pair = pair_of(entry, "", request.index, request.heads[0], query, key)
    strips = [(each["name"], np.array(each["values"])) for each in pair["strips"]]
    steps = [(s["name"], s["value"], s["how"]) for s in pair["steps"]]
    lines = [f"{name} = {digits(value)}   {how}" for name, value, how in steps]
    title = f"From “{pair['query']}” ({query}) to “{pair['key']}” ({key})"
    written, shares = _split(request, query, key)
    values = np.array([np.nan if value is None else value for _, value, _ in steps])
    at = request.site.where.coordinates | {"head": request.heads[0], "query": query, "key": key}
    return Content(
        f"{title}: query and key element by element, and the steps to the weight.",
        [
            *(Grid(name, each[None], words="element") for name, each in strips),
            Lines(title, [*lines, *pair["applied"]]),
            *written,
        ],
        [
            *(Table(name, ("element",), each, at=at) for name, each in strips),
            Table("step", ("step",), values, {"step": [name for name, _, _ in steps]}, at),
            *(replace(share, at=at) for share in shares),
        ],
    )


def _split(request: Request, query: int, key: int) -> tuple[list[Panel], list[Table]]:
    """The score split over what was written at the query and at the key, where it can be."""
    try:
        split = heads.split(text_entry(request), "", request.index, request.heads[0], query, key)
    except ValueError as error:
        return [Lines("Why this score", [" ".join(str(error).split())])], []
    panels: list[Panel] = []
    tables = []
    for side in ("query", "key"):
        names = [each["name"] for each in split[side]]
        values = np.array([each["value"] for each in split[side]])
        title = f"The score, {digits(split['score'])}, split over what was written at the {side}"
        panels.append(Grid(title, values[None], cols=names, words="share of the score"))
        tables.append(Table(f"share at the {side}", ("component",), values, {"component": names}))
    return panels, tables


def _asks(request: Request, entry: "TraceEntry") -> list[str]:
    pair = {"query": request.row, "key": request.selection.key or 0}
    return [path_of("pair", site=request.index, head=request.heads[0], **pair)]


PAPER = Paper(
    shows=_query_key,
    asks=_asks,
    endpoints=(
        Endpoint("pair", TEXT, pair_of, {**HEAD, **PAIR}),
        Endpoint("split", TEXT, heads.split, {**HEAD, **PAIR}),
    ),
)
