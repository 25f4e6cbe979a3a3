"""What each head and each MLP adds to a logit, or to the difference of two."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from viz.api import why
from viz.api.endpoint import TEXT, Endpoint, options, path_of
from viz.drawing.panels import Grid, Lines
from viz.drawing.scales import Scale
from viz.export.entries import text_entry
from viz.export.forms.blame import asks_of_blame, blamed
from viz.export.paper import Content, Paper, Table, digits, given
from viz.export.request import Request, site_name

if TYPE_CHECKING:
    from viz.api.entries import TraceEntry

DOUBT = (
    "Only what is written directly into the last state is counted, with the final norm held at this"
    " input’s scale; what a head does through later layers appears as the part of those layers."
)


def _parts(request: Request) -> Content:
    entry, chosen = text_entry(request), request.selection
    shares = given(why.parts(entry, "", chosen.output, chosen.versus))
    sites = [request.view.sites[row["site"]] for row in shares["rows"]]
    wide = max(site.heads for site in sites)
    values = np.full((len(sites), wide + 1), np.nan)
    for line, row in zip(values, shares["rows"], strict=True):
        line[: len(row["heads"])] = row["heads"]
        if row.get("mlp") is not None:
            line[wide] = row["mlp"]
    most = float(np.nanmax(np.abs(values))) or 1.0
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
    content = Content(
        f"Direct logit attribution: what each head and MLP adds to {what}.",
        [
            Grid(
                f"What each head and each MLP adds to {what}",
                values,
                [site_name(site, request.view.sites) for site in sites],
                [*map(str, range(wide)), "MLP"],
                scale=Scale("signed", -most, most, "share of the logit, square-root scale"),
            ),
            Lines("What does not stand in the table", [*rest, total]),
        ],
        tables,
        layers=True,
        doubt=DOUBT,
    )
    if not chosen.tested:
        return content
    test = blamed(request)
    return Content(
        f"{content.description} {test.description}",
        [*content.panels, *test.panels],
        [*content.tables, *test.tables],
        layers=True,
        doubt=f"{content.doubt} {test.doubt}",
    )


def named(shares: Mapping[str, Any]) -> str:
    """What is divided: the logit of “mat” at position 3, less that of “hat”."""
    less = "" if shares["versus"] is None else f", less that of “{shares['versus']}”"
    return f"the logit of “{shares['name']}” at position {shares['position']}{less}"


def _asks(request: Request, entry: "TraceEntry") -> list[str]:
    chosen = request.selection
    asks = [path_of("refused"), path_of("parts", output=chosen.output, versus=chosen.versus)]
    return asks + (asks_of_blame(request) if chosen.tested else [])


PAPER = Paper(
    shows=_parts,
    asks=_asks,
    endpoints=(Endpoint("parts", TEXT, why.parts, {}, options("output", "versus")),),
)
