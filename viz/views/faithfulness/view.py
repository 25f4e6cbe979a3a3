"""Whether a relevance is borne out by removing tokens."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from analysis.methods import BY_NAME, NAMES, names_of
from viz.api import faithful, model
from viz.api.endpoint import IMAGE, SITE, TEXT, WHOLE, Endpoint, options, path_of
from viz.api.pool import report
from viz.api.requests import one_of
from viz.colours import INK
from viz.selection import RELEVANCE, Chosen, Form
from viz.views.answer import Answer, Table, digits, given
from viz.views.entries import image_entry, text_entry
from viz.views.request import Request

if TYPE_CHECKING:
    from viz.api.entries import TraceEntry
    from viz.paper import Page

VIEW = Form(
    "faithfulness",
    "Faithfulness curves",
    "The output without the relevant tokens, and with them alone",
    place=6,
    options=(*RELEVANCE, "proof"),
    grouped=False,
    covers="layers",
    chooses=(("form", "model"), ("tested", "yes")),
    pictured=True,
)
FUSED_OPTIONS = options("fusion", "discard")
LEAST = 0.01  # of the axis of a drop: smaller ones are noise
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
PERTURBED = {
    "deletion": "patches are greyed out one after another",
    "insertion": "patches are put back into the blurred picture",
}
UNLIKE = "An input without tokens is unlike those the model was trained on."


@dataclass(frozen=True, eq=False)
class Chart:
    """Curves over one axis.

    Attributes:
        title: above them.
        at: places along x.
        lines: along y, by name.
        band: the least and the largest of random orders.
        axes: what is along x and y.
        span: of the y axis.
    """

    title: str
    at: np.ndarray
    lines: Mapping[str, np.ndarray]
    band: tuple[np.ndarray, np.ndarray]
    axes: tuple[str, str]
    span: tuple[float, float]


@dataclass(frozen=True, eq=False, kw_only=True)
class Curves(Answer):
    """The test of one method, or of several: a title each, and its charts."""

    charts: Sequence[tuple[str, Sequence[Chart]]]


def answer(request: Request) -> Curves:
    """The curves of each relevance that is chosen."""
    choice = request.selection
    methods = [each for each in choice.methods if is_testable(request, each.name)]
    if not methods:
        known = ", ".join(name for name in NAMES if is_testable(request, name))
        raise ValueError(
            f"method: expected one of {known}, whose faithfulness can be tested,"
            f" received {choice.method!r}"
        )
    parts = [curves_of(request, method) for method in methods]
    return Curves(
        description=" ".join(dict.fromkeys(part.description for part in parts)),
        tables=[table for part in parts for table in part.tables],
        layers=True,
        doubt=UNLIKE,
        charts=[chart for part in parts for chart in part.charts],
    )


def is_testable(request: Request, method: str) -> bool:
    """Whether the numbers of a method can be tested: relevances; over a picture, of all layers."""
    info = BY_NAME[method]
    return info.kind == "relevance" or (request.picture is not None and info.of == "tower")


def curves_of(request: Request, chosen: Chosen) -> Curves:
    """What happens to the output without a relevance's tokens, and with them alone."""
    method = chosen.name
    entry = text_entry(request) if request.picture is None else image_entry(request)
    what, asked = _explained(request, entry, method), _asked(request, chosen)
    if request.selection.proof in faithful.PERTURBATIONS and request.picture is not None:
        return _perturbed(request, entry, chosen, what)
    first = given(faithful.faithfulness(entry, "", **asked, order=0))
    orders = [first]
    for order in range(1, first["orders"]):
        report(order, first["orders"])
        orders.append(faithful.faithfulness(entry, "", **asked, order=order))
    names = ["by relevance", *(f"random order {order}" for order in range(1, len(orders)))]
    counts, charts, tables = np.array(first["counts"]), [], []
    all_drops = np.array([[order[name] for name in CURVES] for order in orders])
    span = _room(float(all_drops.min()), float(all_drops.max()))
    for name, (title, places) in CURVES.items():
        values = np.array([order[name] for order in orders])
        random = values[1:]
        lines = {BY_NAME[method].title: values[0], "random orders, mean": random.mean(0)}
        axes = (places, "drop of the output")
        charts.append(Chart(title, counts, lines, (random.min(0), random.max(0)), axes, span))
        labels = {"order": names, places: [str(count) for count in first["counts"]]}
        tables.append(Table(f"{method}, {name}", ("order", places), values, labels, {"of": what}))
    kept = "special ones and what the decoder reads stay" if first["read"] else "special ones stay"
    return Curves(
        description=f"Faithfulness: how far {what}, {digits(first['value'])}, falls when tokens are"
        f" {REMOVED[first['removal']]}; {kept}. Band: {len(orders) - 1} random orders.",
        tables=tables,
        charts=[(f"Faithfulness of {BY_NAME[method].title}", charts)],
    )


def _perturbed(request: Request, entry: "TraceEntry", chosen: Chosen, what: str) -> Curves:
    """The probability of a class as patches are taken away or put back."""
    method = chosen.name
    response = given(faithful.perturbation(entry, "", **_asked(request, chosen)))
    random, says = np.array(response["random"]), PERTURBED[request.selection.proof]
    lines = {
        f"{BY_NAME[method].title}, most relevant first": np.array(response["most"]),
        "least relevant first": np.array(response["least"]),
        "random orders, mean": random.mean(0),
    }
    values = np.stack([*[*lines.values()][:2], *random])
    chart = Chart(
        f"Probability: score {response['score']:+.4f}, above 0 is faithful",
        np.array(response["counts"]),
        lines,
        (random.min(0), random.max(0)),
        ("patches changed", "probability"),
        _room(0.0, float(values.max())),
    )
    orders = ["most relevant first", "least relevant first"]
    orders += [f"random order {order}" for order in range(1, len(random) + 1)]
    labels = {"order": orders, "patches changed": [str(count) for count in response["counts"]]}
    name = f"{method}, {request.selection.proof}"
    return Curves(
        description=f"How {what} changes as {says}. Band: {len(random)} random orders.",
        tables=[Table(name, ("order", "patches changed"), values, labels, {"of": what})],
        charts=[(f"Faithfulness of {BY_NAME[method].title}", [chart])],
    )


def _explained(request: Request, entry: "TraceEntry", method: str) -> str:
    """The output that a test is about."""
    output = request.selection.output
    if BY_NAME[method].kind == "relevance":
        return explained(request, given(model.relevance(entry, "", 0, method, output)))
    return f"the probability of “{output}”" if output else "that of the likeliest class"


def _asked(request: Request, chosen: Chosen) -> dict[str, Any]:
    """What the test of a method is asked with."""
    asked: dict[str, Any] = {"site": 0, "method": chosen.name}
    if request.selection.output:
        asked["output"] = request.selection.output
    if request.picture is None:
        return asked
    fused = {name: getattr(chosen, name) for name in BY_NAME[chosen.name].fused}
    asked |= {name: value for name, value in fused.items() if value not in ("mean", 0)}
    return asked | {"proof": request.selection.proof}


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


def figure(answer: Curves, page: "Page") -> None:
    """The charts below each other."""
    for title, charts in answer.charts:
        page.heading(title)
        for chart in charts:
            page.lines(chart.title)
            page.y += 4
            axes = page.plot(120.0, *chart.axes)
            drawn = zip(INK.heads, chart.lines.items(), strict=False)
            low, high = chart.band
            axes.fill_between(chart.at, low, high, color=INK.line, label="smallest to largest")
            for colour, (name, values) in drawn:
                look = {"color": colour, "linewidth": 1.0, "marker": "o", "markersize": 2.0}
                axes.plot(chart.at, values, label=name, **look)
            axes.set_ylim(*chart.span)
            page.legend(axes)
            page.y += 6


def asks(request: Request, entry: "TraceEntry") -> list[str]:
    """The curves of every method."""
    methods = request.selection.methods
    return [path for method in methods for path in asks_of_curves(request, entry, method)]


def asks_of_curves(request: Request, entry: "TraceEntry", chosen: Chosen) -> list[str]:
    """What the test of a relevance asks for: its curves, and those of random orders."""
    if not is_testable(request, chosen.name):
        return []
    asked = _asked(request, chosen)
    if asked.get("proof") in faithful.PERTURBATIONS:
        return [path_of("perturbation", **asked)]
    orders = faithful.faithfulness(entry, "", **asked, order=0).get("orders", 1)
    return [path_of("faithfulness", **asked, order=order) for order in range(orders)]


ENDPOINTS = (
    Endpoint(
        "faithfulness",
        TEXT,
        faithful.faithfulness,
        {**SITE, "method": one_of(*names_of("relevance")), "order": WHOLE},
        options("output"),
    ),
    Endpoint(
        "faithfulness",
        IMAGE,
        faithful.faithfulness,
        {**SITE, "method": one_of(*NAMES), "order": WHOLE},
        {**options("output"), "proof": one_of(*faithful.REMOVALS), **FUSED_OPTIONS},
    ),
    Endpoint(
        "perturbation",
        IMAGE,
        faithful.perturbation,
        {**SITE, "method": one_of(*NAMES), "proof": one_of(*faithful.PERTURBATIONS)},
        {**options("output"), **FUSED_OPTIONS},
    ),
)
