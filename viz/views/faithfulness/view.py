"""Whether a relevance is borne out by removing tokens."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from analysis.methods import BY_NAME, NAMES, Fusion, names_of
from viz.api.endpoint import IMAGE, TEXT, Endpoint, path_of
from viz.api.entries import TraceEntry
from viz.api.pool import report
from viz.api.requests import QuestionError, one_of
from viz.api.rerun import opened, target_of
from viz.colours import INK
from viz.selection import RELEVANCE, Chosen, Form
from viz.views.answer import Answer, Table, digits
from viz.views.entries import entry_of
from viz.views.methods import Asked, explanation_of, relevance
from viz.views.request import Request

if TYPE_CHECKING:
    from jaxtyping import Float, Int
    from torch import Tensor

    from analysis.faithfulness import Removal, Study
    from analysis.target import Target
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
LEAST = 0.01  # of the axis of a drop: smaller ones are noise
REMOVALS = ("grey", "drop")  # of patches, for which there are curves with and without them
PERTURBATIONS = {
    "deletion": "patches are greyed out one after another",
    "insertion": "patches are put back into the blurred picture",
}
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


# ---- numbers


@dataclass(frozen=True, eq=False)
class Curves:
    """What removing tokens in one of several orders does to an output."""

    orders: int
    counts: list[int]
    tokens: int
    value: float
    removal: str
    read: bool
    comprehensiveness: "Float[Tensor, 'level']"
    sufficiency: "Float[Tensor, 'level']"


@dataclass(frozen=True, eq=False)
class Perturbation:
    """The probability of a class as patches are taken away, or put back.

    The `most` relevant patches first, the `least` relevant ones first, and in random orders.
    """

    counts: "Int[Tensor, 'level']"
    value: float
    most: "Float[Tensor, 'level']"
    least: "Float[Tensor, 'level']"
    random: "Float[Tensor, 'order level']"
    score: float


def faithfulness(
    entry: TraceEntry,
    site: int,
    method: str,
    order: int,
    output: str = "",
    proof: str = "",
    fusion: Fusion = "mean",
    discard: float = 0.0,
) -> Curves:
    """The curves of a relevance (order 0), or of one random order."""
    asked = Asked(entry, site, "mean", method, fusion, discard)
    key = (site, method, fusion, discard, output, proof)
    study = entry.answers.once(("study", *key), lambda: _study(asked, output, proof))
    if order >= study.orders:
        raise QuestionError(f"expected order 0 to {study.orders - 1}")

    def compute() -> "tuple[Tensor, Tensor]":
        with opened(entry):
            return study.curve(order)

    curves = entry.answers.once(("curve", *key, order), compute)
    about = study.counts, study.removable, study.value, study.removal, study.decoder_reads
    return Curves(study.orders, *about, *curves)


def perturbation(
    entry: TraceEntry,
    site: int,
    method: str,
    proof: str,
    output: str = "",
    fusion: Fusion = "mean",
    discard: float = 0.0,
) -> Perturbation:
    """The probability of a class as patches are taken away or put back, by relevance."""
    from analysis import perturbation as analysis

    asked = Asked(entry, site, "mean", method, fusion, discard)

    def compute() -> analysis.Perturbation:
        tokens, target = _relevant(asked, output)
        kind: Any = proof
        with opened(entry) as (model, given, _):
            return analysis.perturbation(model, given, tokens, kind, target=target)

    key = ("perturbation", site, method, fusion, discard, output, proof)
    result = entry.answers.once(key, compute)
    of_orders = result.curve, result.reverse, result.random
    return Perturbation(result.counts, result.value, *of_orders, result.score)


def _study(asked: Asked, output: str, proof: str) -> "Study":
    from analysis.faithfulness import Study

    tokens, target = _relevant(asked, output)
    removal: Removal | None = "grey" if proof == "grey" else "drop" if proof == "drop" else None
    with opened(asked.entry) as (model, given, written):
        how: dict[str, Any] = {"chosen": target, "removal": removal, "written": written}
        return Study.of(model, given, tokens, **how)


def _relevant(asked: Asked, output: str) -> "tuple[Tensor, Target]":
    """The relevance of every token, and the output whose probability tests it."""
    if BY_NAME[asked.method].kind == "relevance":
        result = explanation_of(asked.entry, asked.method, output)
        return result.tokens, result.chosen
    return asked.read(None)[0], target_of(asked.entry, output)


# ---- a figure


@dataclass(frozen=True, eq=False)
class Chart:
    """Lines by name over the places `at` along x, the last of them of random orders, whose least
    and largest are a band; what is along x and y; and the span of the y axis."""

    title: str
    at: np.ndarray
    lines: Mapping[str, np.ndarray]
    band: tuple[np.ndarray, np.ndarray]
    axes: tuple[str, str]
    span: tuple[float, float]


@dataclass(frozen=True, eq=False, kw_only=True)
class Tested(Answer):
    """The test of one method, or of several: a title each, and its charts."""

    charts: Sequence[tuple[str, Sequence[Chart]]]


def answer(request: Request) -> Tested:
    """The curves of each relevance that is chosen."""
    choice = request.selection
    methods = [each for each in choice.methods if is_testable(request, each.name)]
    if not methods:
        known = ", ".join(name for name in NAMES if is_testable(request, name))
        raise ValueError(
            f"method: expected one of {known}, whose faithfulness can be tested,"
            f" received {choice.method!r}"
        )
    parts = [tested(request, method) for method in methods]
    return Tested(
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


def tested(request: Request, chosen: Chosen) -> Tested:
    """What happens to the output without a relevance's tokens, and with them alone."""
    name, title, entry = chosen.name, BY_NAME[chosen.name].title, entry_of(request)
    what, asked = _explained(request, entry, name), _asked(request, chosen)
    proof = request.selection.proof
    if proof in PERTURBATIONS and request.picture is not None:
        result = perturbation(entry, **asked)
        most, least, random = (
            each.numpy(force=True) for each in (result.most, result.least, result.random)
        )
        lines = {f"{title}, most relevant first": most, "least relevant first": least}
        chart, table = _charted(
            f"Probability: score {result.score:+.4f}, above 0 is faithful",
            f"{name}, {proof}",
            result.counts.tolist(),
            lines,
            random,
            ("patches changed", "probability"),
            _room(0.0, float(np.stack([most, least, *random]).max())),
            ["most relevant first", "least relevant first"],
            what,
        )
        says = f"How {what} changes as {PERTURBATIONS[proof]}. Band: {len(random)} random orders."
        return Tested(
            description=says, tables=[table], charts=[(f"Faithfulness of {title}", [chart])]
        )
    first = faithfulness(entry, **asked, order=0)
    orders = [first]
    for order in range(1, first.orders):
        report(order, first.orders)
        orders.append(faithfulness(entry, **asked, order=order))
    drops = {
        curve: np.stack([getattr(order, curve).numpy(force=True) for order in orders])
        for curve in CURVES
    }
    every = np.stack([*drops.values()])
    span, drawn = _room(float(every.min()), float(every.max())), []
    for curve, (says, places) in CURVES.items():
        axes = (places, "drop of the output")
        lines, random = {title: drops[curve][0]}, drops[curve][1:]
        about = says, f"{name}, {curve}", first.counts, lines, random, axes, span
        drawn.append(_charted(*about, ["by relevance"], what))
    kept = "special ones and what the decoder reads stay" if first.read else "special ones stay"
    return Tested(
        description=f"Faithfulness: how far {what}, {digits(first.value)}, falls when tokens are"
        f" {REMOVED[first.removal]}; {kept}. Band: {len(orders) - 1} random orders.",
        tables=[table for _, table in drawn],
        charts=[(f"Faithfulness of {title}", [chart for chart, _ in drawn])],
    )


def _charted(
    title: str,
    name: str,
    counts: list[int],
    lines: Mapping[str, np.ndarray],
    random: np.ndarray,
    axes: tuple[str, str],
    span: tuple[float, float],
    orders: list[str],
    what: str,
) -> tuple[Chart, Table]:
    """Lines beside those of random orders: drawn, and in numbers."""
    mean = {"random orders, mean": random.mean(0)}
    band = random.min(0), random.max(0)
    chart = Chart(title, np.array(counts), {**lines, **mean}, band, axes, span)
    orders = [*orders, *(f"random order {order}" for order in range(1, len(random) + 1))]
    labels = {"order": orders, axes[0]: [str(count) for count in counts]}
    values = np.stack([*lines.values(), *random])
    return chart, Table(name, ("order", axes[0]), values, labels, {"of": what})


def _explained(request: Request, entry: TraceEntry, method: str) -> str:
    """The output that a test is about."""
    output = request.selection.output
    if BY_NAME[method].kind == "relevance":
        return relevance(entry, 0, method, output).explains
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


def figure(answer: Tested, page: "Page") -> None:
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


def asks(request: Request, entry: TraceEntry) -> list[str]:
    """The curves of every method, and those of random orders."""
    paths = []
    for method in request.selection.methods:
        asked = _asked(request, method)
        if not is_testable(request, method.name):
            continue
        if asked.get("proof") in PERTURBATIONS:
            paths.append(path_of("perturbation", **asked))
            continue
        try:
            orders = faithfulness(entry, **asked, order=0).orders
        except ValueError:  # the answer says why
            orders = 1
        paths += [path_of("faithfulness", **asked, order=order) for order in range(orders)]
    return paths


ENDPOINTS = (
    Endpoint("faithfulness", TEXT, faithfulness, method=one_of(*names_of("relevance"))),
    Endpoint("faithfulness", IMAGE, faithfulness, proof=one_of(*REMOVALS)),
    Endpoint("perturbation", IMAGE, perturbation, proof=one_of(*PERTURBATIONS)),
)
