"""Whether a relevance is borne out by removing tokens."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from analysis.methods import BY_NAME, names_of
from viz.api import model
from viz.api.endpoint import SITE, TEXT, WHOLE, Endpoint, options, path_of
from viz.api.pool import report
from viz.api.requests import one_of
from viz.drawing.panels import Charts
from viz.export.entries import text_entry
from viz.export.paper import Content, Paper, Table, digits, given
from viz.export.request import Request

if TYPE_CHECKING:
    from viz.api.entries import TraceEntry


LEAST = 0.01  # of the axis of a drop: smaller ones are noise
CURVE = 220  # height in pixels of Plotly
CURVES = {
    "comprehensiveness": (
        "Comprehensiveness: without the most relevant tokens (large is faithful)",
        "tokens removed",
    ),
    "sufficiency": (
        "Sufficiency: with the most relevant tokens alone (small is faithful)",
        "tokens kept",
    ),
}
REMOVED = {"mask": "masked", "drop": "left out", "grey": "painted grey"}
UNLIKE = "An input without tokens is unlike those the model was trained on."


def _faithfulness(request: Request) -> Content:
    """The curves of each relevance that is chosen."""
    choice, relevances = request.selection, names_of("relevance")
    methods = [method for method in (choice.method, choice.beside) if method in relevances]
    if not methods:
        raise ValueError(
            f"method: expected one of {', '.join(relevances)}, whose faithfulness can be tested,"
            f" received {choice.method!r}"
        )
    parts = [curves_of(request, method) for method in methods]
    return Content(
        " ".join(dict.fromkeys(part.description for part in parts)),
        [panel for part in parts for panel in part.panels],
        [table for part in parts for table in part.tables],
        layers=True,
        doubt=UNLIKE,
    )


def curves_of(request: Request, method: str) -> Content:
    """What happens to the output without a relevance's tokens, and with them alone."""
    from viz.figures import curves

    entry, output = text_entry(request), request.selection.output
    what = explained(request, given(model.relevance(entry, "", 0, method, output)))
    first = given(model.faithfulness(entry, "", 0, method, 0, output))
    orders = [first]
    for order in range(1, first["orders"]):
        report(order, first["orders"])
        orders.append(model.faithfulness(entry, "", 0, method, order, output))
    names = ["by relevance", *(f"random order {order}" for order in range(1, len(orders)))]
    counts, figures, tables = np.array(first["counts"]), [], []
    all_drops = np.array([[order[name] for name in CURVES] for order in orders])
    span = _room(float(all_drops.min()), float(all_drops.max()))
    for name, (title, places) in CURVES.items():
        values = np.array([order[name] for order in orders])
        random = values[1:]
        lines = {BY_NAME[method].title: values[0], "random orders, mean": random.mean(0)}
        band = (random.min(0), random.max(0))
        figure = curves(
            counts,
            lines,
            title=title,
            x=places,
            y="drop of the output",
            band=band,
            steps=True,
            span=span,
            height=CURVE,
        )
        figures.append(figure)
        labels = {"order": names, places: [str(count) for count in first["counts"]]}
        tables.append(Table(f"{method}, {name}", ("order", places), values, labels, {"of": what}))
    kept = "special ones and what the decoder reads stay" if first["read"] else "special ones stay"
    description = (
        f"Faithfulness: how far {what}, {digits(first['value'])}, falls when tokens are"
        f" {REMOVED[first['removal']]}; {kept}. Band: {len(orders) - 1} random orders."
    )
    return Content(
        description, [Charts(f"Faithfulness of {BY_NAME[method].title}", figures)], tables
    )


def _room(low: float, high: float) -> tuple[float, float]:
    """The range of an axis with 0 on it, a little larger than that of the numbers."""
    low, high = min(0.0, low), max(LEAST, high)
    return low - 0.05 * (high - low), high + 0.05 * (high - low)


def explained(request: Request, relevance: Mapping[str, Any]) -> str:
    """What a relevance explains."""
    if relevance["similarity"]:
        return f"the similarity to “{request.selection.output}”"
    name = f"“{relevance['name']}”" if relevance["name"] else f"output {relevance['id']}"
    place = "" if relevance["position"] is None else f" at position {relevance['position']}"
    return f"the logit of {name}{place}"


def grouped(request: Request, method: str) -> str:
    """How the numbers of a method were grouped, as a sentence; "" for those of single tokens."""
    note = model.note_of(request.view, method)
    return f" {note[0].upper()}{note[1:]}." if note else ""


def _asks(request: Request, entry: "TraceEntry") -> list[str]:
    methods = request.selection.methods
    return [path for method in methods for path in asks_of_curves(request, entry, method.name)]


def asks_of_curves(request: Request, entry: "TraceEntry", method: str) -> list[str]:
    """What the test of a relevance asks for: its curves, and those of random orders."""
    output = request.selection.output
    if BY_NAME[method].kind != "relevance":
        return []
    orders = model.faithfulness(entry, "", 0, method, 0, output).get("orders", 1)
    asked = {"site": 0, "method": method, "output": output}
    return [path_of("faithfulness", **asked, order=order) for order in range(orders)]


PAPER = Paper(
    shows=_faithfulness,
    asks=_asks,
    endpoints=(
        Endpoint(
            "faithfulness",
            TEXT,
            model.faithfulness,
            {**SITE, "method": one_of(*names_of("relevance")), "order": WHOLE},
            options("output"),
        ),
    ),
)
