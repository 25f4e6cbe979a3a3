"""What each head and each MLP adds to a logit, or to the difference of two."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from viz.api import matter, patching, why
from viz.api.endpoint import BOTH, SITE, TEXT, WHOLE, Endpoint, options, path_of
from viz.api.requests import one_of, sentence
from viz.colours import Scale
from viz.selection import Form
from viz.views.answer import Answer, Table, digits, given
from viz.views.blame import view as blame
from viz.views.entries import text_entry
from viz.views.request import Request, site_name

if TYPE_CHECKING:
    from viz.api.entries import TraceEntry
    from viz.paper import Page

VIEW = Form(
    "parts",
    "Parts",
    "What each head and each MLP adds to the logit of an output",
    place=8,
    options=("output", "versus", "tested"),
    grouped=False,
    covers="layers",
    runs=True,
    module="parts",
)
DOUBT = (
    "Only what is written directly into the last state is counted, with the final norm held at this"
    " input’s scale; what a head does through later layers appears as the part of those layers."
)


@dataclass(frozen=True, eq=False, kw_only=True)
class Parts(Answer):
    """The parts of a logit.

    Attributes:
        title: of the cells.
        values: "layer head", with the MLP in the last column.
        layers_named: a name for each layer.
        rest: what does not stand in the cells, in words.
        test: blame, where it is asked for.
    """

    title: str
    values: np.ndarray
    layers_named: Sequence[str]
    rest: Sequence[str]
    test: blame.Blame | None


def answer(request: Request) -> Parts:
    """What every part adds, and blame where it is asked for."""
    entry, chosen = text_entry(request), request.selection
    shares = given(why.parts(entry, "", chosen.output, chosen.versus))
    sites = [request.view.sites[row["site"]] for row in shares["rows"]]
    wide = max(site.heads for site in sites)
    values = np.full((len(sites), wide + 1), np.nan)
    for line, row in zip(values, shares["rows"], strict=True):
        line[: len(row["heads"])] = row["heads"]
        if row.get("mlp") is not None:
            line[wide] = row["mlp"]
    what = named(shares)
    rest = [f"{each['name']}: {digits(each['value'])}" for each in shares["rest"]]
    total = f"All parts together {digits(shares['sum'])}; {what} is {digits(shares['logit'])}."
    at = [
        site.where.coordinates | {"head": head}
        for site, row in zip(sites, shares["rows"], strict=True)
        for head in range(len(row["heads"]))
    ]
    heads = np.array([value for row in shares["rows"] for value in row["heads"]])
    others = [
        (f"layer {site.layer}, MLP", row["mlp"])
        for site, row in zip(sites, shares["rows"], strict=True)
        if row.get("mlp") is not None
    ] + [(each["name"], each["value"]) for each in shares["rest"]]
    tables = [
        Table("heads", ("head",), heads, at=at),
        Table(
            "other parts",
            ("part",),
            np.array([value for _, value in others]),
            {"part": [name for name, _ in others]},
            {"of": what},
        ),
    ]
    test = blame.answer(request) if chosen.tested else None
    return Parts(
        description=" ".join(
            [
                f"Direct logit attribution: what each head and MLP adds to {what}.",
                *([test.description] if test else []),
            ]
        ),
        tables=[*tables, *(test.tables if test else ())],
        layers=True,
        doubt=f"{DOUBT} {test.doubt}" if test else DOUBT,
        title=f"What each head and each MLP adds to {what}",
        values=values,
        layers_named=[site_name(site, request.view.sites) for site in sites],
        rest=[*rest, total],
        test=test,
    )


def named(shares: Mapping[str, Any]) -> str:
    """What is divided: the logit of “mat” at position 3, less that of “hat”."""
    less = "" if shares["versus"] is None else f", less that of “{shares['versus']}”"
    return f"the logit of “{shares['name']}” at position {shares['position']}{less}"


def figure(answer: Parts, page: "Page") -> None:
    """A row for each layer, a column for each head, and one for the MLPs."""
    from viz.parts import matrix

    most = float(np.nanmax(np.abs(answer.values))) or 1.0
    scale = Scale("signed", -most, most, "share of the logit, square-root scale")
    columns = [*map(str, range(answer.values.shape[1] - 1)), "MLP"]
    page.heading(answer.title)
    matrix(page, [("", answer.values)], answer.layers_named, columns, scale, largest=14.0)
    page.heading("What does not stand in the table")
    for line in answer.rest:
        page.lines(line)
    page.y += 6
    if answer.test is not None:
        blame.figure(answer.test, page)


def asks(request: Request, entry: "TraceEntry") -> list[str]:
    """The parts, and blame."""
    chosen = request.selection
    paths = [path_of("refused"), path_of("parts", output=chosen.output, versus=chosen.versus)]
    return paths + (blame.asks(request, entry) if chosen.tested else [])


SWITCHED = {**options("output"), "off": one_of(*matter.HOW)}
ENDPOINTS = (
    Endpoint("parts", TEXT, why.parts, {}, options("output", "versus")),
    Endpoint("matters", BOTH, matter.matters, SITE, {**SWITCHED, "top": WHOLE}),
    Endpoint("matters_in_layer", BOTH, matter.matters_in_layer, SITE, SWITCHED),
    Endpoint(
        "patched",
        TEXT,
        patching.patched,
        {"second": sentence},
        {**options("output"), "top": WHOLE},
    ),
)
