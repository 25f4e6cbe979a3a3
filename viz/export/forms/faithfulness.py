"""Whether a relevance is borne out by removing tokens."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from analysis.methods import BY_NAME, NAMES, names_of
from viz.api import faithful, model
from viz.api.endpoint import IMAGE, SITE, TEXT, WHOLE, Endpoint, options, path_of
from viz.api.pool import report
from viz.api.requests import one_of
from viz.drawing.panels import Charts
from viz.export.entries import image_entry, text_entry
from viz.export.paper import Content, Paper, Table, digits, given
from viz.export.request import Request
from viz.selection import Chosen

if TYPE_CHECKING:
    from viz.api.entries import TraceEntry


FUSED_OPTIONS = options("fusion", "discard")
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
PERTURBED = {
    "deletion": "patches are greyed out one after another",
    "insertion": "patches are put back into the blurred picture",
}
UNLIKE = "An input without tokens is unlike those the model was trained on."


def _faithfulness(request: Request) -> Content:
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
    return Content(
        " ".join(dict.fromkeys(part.description for part in parts)),
        [panel for part in parts for panel in part.panels],
        [table for part in parts for table in part.tables],
        layers=True,
        doubt=UNLIKE,
    )


def is_testable(request: Request, method: str) -> bool:
    """Whether the numbers of a method can be tested: relevances; over a picture, of all layers."""
    info = BY_NAME[method]
    return info.kind == "relevance" or (request.picture is not None and info.of == "tower")


def curves_of(request: Request, chosen: Chosen) -> Content:
    """What happens to the output without a relevance's tokens, and with them alone."""
    from viz.figures import curves

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


def _perturbed(request: Request, entry: "TraceEntry", chosen: Chosen, what: str) -> Content:
    """The probability of a class as patches are taken away or put back."""
    from viz.figures import curves

    method = chosen.name
    answer = given(faithful.perturbation(entry, "", **_asked(request, chosen)))
    random, says = np.array(answer["random"]), PERTURBED[request.selection.proof]
    lines = {
        f"{BY_NAME[method].title}, most relevant first": np.array(answer["most"]),
        "least relevant first": np.array(answer["least"]),
        "random orders, mean": random.mean(0),
    }
    values = np.stack([*[*lines.values()][:2], *random])
    figure = curves(
        np.array(answer["counts"]),
        lines,
        title=f"Probability: score {answer['score']:+.4f}, above 0 is faithful",
        x="patches changed",
        y="probability",
        band=(random.min(0), random.max(0)),
        steps=True,
        span=_room(0.0, float(values.max())),
        height=CURVE,
    )
    orders = ["most relevant first", "least relevant first"]
    orders += [f"random order {order}" for order in range(1, len(random) + 1)]
    labels = {"order": orders, "patches changed": [str(count) for count in answer["counts"]]}
    name = f"{method}, {request.selection.proof}"
    return Content(
        f"How {what} changes as {says}. Band: {len(random)} random orders.",
        [Charts(f"Faithfulness of {BY_NAME[method].title}", [figure])],
        [Table(name, ("order", "patches changed"), values, labels, {"of": what})],
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


def _asks(request: Request, entry: "TraceEntry") -> list[str]:
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


PAPER = Paper(
    shows=_faithfulness,
    asks=_asks,
    endpoints=(
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
    ),
)
