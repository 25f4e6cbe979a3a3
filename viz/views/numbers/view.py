"""Every number of every head."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from viz.api import heads
from viz.api.endpoint import TEXT, Endpoint, path_of
from viz.colours import scale_of
from viz.selection import Form
from viz.views.answer import Answer, Table, every_head
from viz.views.entries import text_entry
from viz.views.request import Request, site_name

if TYPE_CHECKING:
    from viz.api.entries import TraceEntry
    from viz.paper import Page

VIEW = Form(
    "numbers",
    "Numbers of every head",
    "A matrix of layers and heads for each number",
    place=12,
    covers="every",
    chooses=(("overview", "table"),),
)


@dataclass(frozen=True, eq=False, kw_only=True)
class Numbers(Answer):
    """Every number of every head.

    Attributes:
        layers_named: a name for each layer.
        measures: of each number its title, its name, its values "layer head" and why it is not
            defined.
    """

    layers_named: Sequence[str]
    measures: Sequence[tuple[str, str, np.ndarray, str]]


def answer(request: Request) -> Numbers:
    """The numbers, and each of them as a matrix of layers and heads."""
    response, sites = heads.numbers(text_entry(request), ""), request.view.sites
    most = max(site.heads for site in sites)
    measures = []
    columns: dict[str, list[float]] = {}
    for measure in response["measures"]:
        padded = np.full((len(sites), most), np.nan)
        for row, row_values in zip(padded, response["values"][measure["key"]], strict=True):
            row[: len(row_values)] = [np.nan if number is None else number for number in row_values]
        columns[measure["key"]] = [
            number
            for row, site in zip(padded, sites, strict=True)
            for number in row[: site.heads].tolist()
        ]
        title = f"{measure['title']}: {measure['formula']}"
        reason = response["reasons"].get(measure["key"]) or "Not defined for any head."
        measures.append((title, measure["title"], padded, reason))
    names, places = every_head(request)
    labels = {"head": names, "number": [*columns]}
    values = np.array([*columns.values()], dtype=float).T
    return Numbers(
        description="Every number of every head on this text: a row for each layer, a column for"
        " each head.",
        tables=[Table("heads", ("head", "number"), values, labels, places)],
        doubt="What a head does on one text need not be what it does on others.",
        layers_named=[site_name(site, sites) for site in sites],
        measures=measures,
    )


def figure(answer: Numbers, page: "Page") -> None:
    """A matrix of layers and heads for each number."""
    from viz.parts import matrix

    count = answer.measures[0][2].shape[1]
    numbered = [str(head) for head in range(count)]
    for title, words, values, reason in page.columns(answer.measures, 2 if count > 16 else 3):
        page.heading(title)
        if np.isfinite(values).any():
            scale = scale_of(values, words)
            matrix(page, [("", values)], answer.layers_named, numbered, scale, largest=9.0)
        else:
            page.lines(reason)
        page.y += 6


def asks(request: Request, entry: "TraceEntry") -> list[str]:
    """All of them."""
    return [path_of("numbers")]


ENDPOINTS = (Endpoint("numbers", TEXT, heads.numbers, cost=heads.all_weights),)
