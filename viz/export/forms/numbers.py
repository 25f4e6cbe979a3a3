"""Every number of every head."""

from typing import TYPE_CHECKING

import numpy as np

from viz.api import heads
from viz.api.endpoint import TEXT, Endpoint, path_of
from viz.drawing.panels import Grid, Lines, Panel
from viz.export.entries import text_entry
from viz.export.paper import Content, Paper, Table, every_head
from viz.export.request import Request, site_name

if TYPE_CHECKING:
    from viz.api.entries import TraceEntry


def _numbers(request: Request) -> Content:
    """Every number of every head: a matrix of layers and heads for each."""
    answer, sites = heads.numbers(text_entry(request), ""), request.view.sites
    rows, most = [site_name(site, sites) for site in sites], max(site.heads for site in sites)
    panels: list[Panel] = []
    columns: dict[str, list[float]] = {}
    for measure in answer["measures"]:
        padded = np.full((len(sites), most), np.nan)
        for row, row_values in zip(padded, answer["values"][measure["key"]], strict=True):
            row[: len(row_values)] = [np.nan if number is None else number for number in row_values]
        columns[measure["key"]] = [
            number
            for row, site in zip(padded, sites, strict=True)
            for number in row[: site.heads].tolist()
        ]
        title = f"{measure['title']}: {measure['formula']}"
        reason = answer["reasons"].get(measure["key"])
        if np.isfinite(padded).any():
            numbered = [str(head) for head in range(most)]
            panels.append(Grid(title, padded, rows, numbered, words=measure["title"]))
        else:
            panels.append(Lines(title, [reason or "Not defined for any head."]))
    names, places = every_head(request)
    labels = {"head": names, "number": [*columns]}
    values = np.array([*columns.values()], dtype=float).T
    return Content(
        "Every number of every head on this text: a row for each layer, a column for each head.",
        panels,
        [Table("heads", ("head", "number"), values, labels, places)],
        doubt="What a head does on one text need not be what it does on others.",
    )


def _asks(request: Request, entry: "TraceEntry") -> list[str]:
    return [path_of("numbers")]


PAPER = Paper(
    shows=_numbers,
    asks=_asks,
    endpoints=(Endpoint("numbers", TEXT, heads.numbers, cost=heads.all_weights),),
)
