"""The edges that an output rests on, and its probability without them."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from viz.api import why
from viz.api.endpoint import TEXT, Endpoint, options, path_of
from viz.drawing.panels import Lines, Shaded
from viz.export.entries import text_entry
from viz.export.paper import Content, Paper, Table, digits, given
from viz.export.request import Request

if TYPE_CHECKING:
    from viz.api.entries import TraceEntry

DOUBT = (
    "Effects are estimated with the rest of the network linearised, and a cut leaves what the model"
    " was trained on. Where the text says the same thing twice, cutting one changes little."
)


def blamed(request: Request) -> Content:
    """The relevance of tokens, the edges, the path, and the check."""
    entry = text_entry(request)
    result = given(why.blame(entry, "", request.selection.output))
    labels, numbers = result["labels"], np.array(result["tokens"])
    place = "" if result["position"] is None else f" at position {result['position']}"
    what = f"“{result['name']}”{place}"
    edges = [_line(request, edge, labels) for edge in result["edges"]]
    path = [_line(request, edge, labels) for edge in result["path"]]
    shares = [result["before"], result["after"], *result["controls"]]
    runs = ["before", "edges cut"]
    runs += [f"random edges {draw}" for draw in range(1, len(result["controls"]) + 1)]
    tables = [Table("relevance", ("token",), numbers, {"token": labels}, {"of": what})]
    for name in ("edges", "path"):
        at = [_place(request, edge) for edge in result[name]]
        effects = np.array([edge["effect"] for edge in result[name]])
        tables.append(Table(name, ("head",), effects, at=at))
    tables.append(Table("probability", ("run",), np.array(shares), {"run": runs}, {"of": what}))
    return Content(
        f"Blame: what {what} rests on. {checked(result)}",
        [
            Shaded(f"What {what} rests on: Σ A ⊙ ∇A of log p", labels, numbers, words="relevance"),
            Lines("The edges whose cut would lower log p most, in nats", edges),
            Lines("The path from the output down to the input", path),
            Lines("The check", [checked(result)]),
        ],
        tables,
        layers=True,
        doubt=DOUBT,
    )


def checked(result: Mapping[str, Any]) -> str:
    """What cutting did, beside random edges."""
    controls = result["controls"]
    low, high = min(controls), max(controls)
    return (
        f"These {len(result['edges'])} edges cut: probability {digits(result['before'])} →"
        f" {digits(result['after'])}; as many random edges of the same layers, {len(controls)}"
        f" times: {digits(low)} to {digits(high)}."
    )


def _line(request: Request, edge: Mapping[str, Any], labels: list[str]) -> str:
    layer = request.view.sites[edge["site"]].layer
    query, key = edge["query"], edge["key"]
    return (
        f"{digits(edge['effect'])}   layer {layer}, head {edge['head']}:"
        f" “{labels[query]}” ({query}) → “{labels[key]}” ({key})"
    )


def _place(request: Request, edge: Mapping[str, Any]) -> dict[str, Any]:
    site = request.view.sites[edge["site"]]
    return site.where.coordinates | {name: edge[name] for name in ("head", "query", "key")}


def asks_of_blame(request: Request) -> list[str]:
    """What the test asks for."""
    return [path_of("blame", output=request.selection.output)]


def _asks(request: Request, entry: "TraceEntry") -> list[str]:
    return asks_of_blame(request)


PAPER = Paper(
    shows=blamed,
    asks=_asks,
    endpoints=(Endpoint("blame", TEXT, why.blame, {}, options("output")),),
)
