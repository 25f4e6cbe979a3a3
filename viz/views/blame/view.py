"""The edges that an output rests on, and its probability without them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from viz.api import why
from viz.api.endpoint import TEXT, Endpoint, options, path_of
from viz.colours import scale_of
from viz.selection import Form
from viz.views.answer import Answer, Table, digits, given
from viz.views.entries import text_entry
from viz.views.request import Request

if TYPE_CHECKING:
    from viz.api.entries import TraceEntry
    from viz.paper import Page

VIEW = Form(
    "blame",
    "Blame",
    "The edges that an output rests on, and its probability without them",
    place=9,
    options=("output",),
    grouped=False,
    covers="layers",
    runs=True,
    chooses=(("form", "parts"), ("tested", "yes")),
)
DOUBT = (
    "Effects are estimated with the rest of the network linearised, and a cut leaves what the model"
    " was trained on. Where the text says the same thing twice, cutting one changes little."
)


@dataclass(frozen=True, eq=False, kw_only=True)
class Blame(Answer):
    """The relevance of tokens, the first table, and edges in words.

    Attributes:
        lines: under a title each, the edges, the path and the check.
    """

    lines: Mapping[str, Sequence[str]]


def answer(request: Request) -> Blame:
    """The relevance of tokens, the edges, the path, and the check."""
    entry = text_entry(request)
    result = given(why.blame(entry, "", request.selection.output))
    labels, numbers = result["labels"], np.array(result["tokens"])
    place = "" if result["position"] is None else f" at position {result['position']}"
    what = f"“{result['name']}”{place}"
    shares = [result["before"], result["after"], *result["controls"]]
    runs = ["before", "edges cut"]
    runs += [f"random edges {draw}" for draw in range(1, len(result["controls"]) + 1)]
    about: dict[str, Any] = {
        "title": f"What {what} rests on: Σ A ⊙ ∇A of log p",
        "words": "relevance",
    }
    tables = [Table("relevance", ("token",), numbers, {"token": labels}, {"of": what}, **about)]
    for name in ("edges", "path"):
        at = [_place(request, edge) for edge in result[name]]
        effects = np.array([edge["effect"] for edge in result[name]])
        tables.append(Table(name, ("head",), effects, at=at))
    tables.append(Table("probability", ("run",), np.array(shares), {"run": runs}, {"of": what}))
    edges, path = (
        [_line(request, edge, labels) for edge in result[name]] for name in ("edges", "path")
    )
    return Blame(
        description=f"Blame: what {what} rests on. {checked(result)}",
        tables=tables,
        layers=True,
        doubt=DOUBT,
        lines={
            "The edges whose cut would lower log p most, in nats": edges,
            "The path from the output down to the input": path,
            "The check": [checked(result)],
        },
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


def figure(answer: Blame, page: "Page") -> None:
    """The text shaded by its relevance, then the edges."""
    from viz.parts import shaded

    table = answer.tables[0]
    scale = scale_of(table.values, table.words)
    page.heading(table.title)
    shaded(page, table.labels["token"], table.values, scale)
    page.bar(scale)
    for title, lines in answer.lines.items():
        page.heading(title)
        for line in lines:
            page.lines(line)
        page.y += 6


def asks(request: Request, entry: "TraceEntry") -> list[str]:
    """The one test."""
    return [path_of("blame", output=request.selection.output)]


ENDPOINTS = (Endpoint("blame", TEXT, why.blame, {}, options("output")),)
