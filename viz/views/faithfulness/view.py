"""Whether a relevance is borne out by removing tokens, or patches of a picture."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from analysis.methods import BY_NAME, NAMES, names_of
from viz.api.endpoint import endpoint, path_of
from viz.api.entries import TraceEntry
from viz.api.pool import report
from viz.api.rerun import opened, target_of
from viz.colours import INK
from viz.selection import RELEVANCE, Form
from viz.values import words
from viz.views.answer import Answer, Table, digits
from viz.views.methods import Asked, explanation_of, relevance
from viz.views.request import Request

if TYPE_CHECKING:
    from jaxtyping import Float
    from torch import Tensor

    from analysis.faithfulness import Perturbation
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
REMOVED = {"mask": "masked", "drop": "left out"}
UNLIKE = "An input without tokens is unlike those the model was trained on."
RANDOM = "random order"


# ---- numbers


@dataclass(frozen=True, eq=False)
class Curves:
    """What removing tokens of a text does to an output: by relevance, then in random orders."""

    counts: list[int]
    tokens: int
    value: float
    removal: str
    read: bool
    comprehensiveness: "Float[Tensor, 'order level']"
    sufficiency: "Float[Tensor, 'order level']"


@endpoint("faithfulness", "text", slow=True, method=words(*names_of("relevance")))
def faithfulness(entry: TraceEntry, method: str, output: str = "") -> Curves:
    """The curves of a relevance, and of random orders."""

    def compute() -> Curves:
        import torch

        from analysis.faithfulness import Study

        result = explanation_of(entry, method, output)
        with opened(entry) as (model, given, written):
            how: dict[str, Any] = {"chosen": result.chosen, "written": written}
            study = Study(model, given, result.tokens, **how)
        curves = []
        for order in range(len(study.queue)):
            report(order, len(study.queue))
            with opened(entry):
                curves.append(study.curve(order))
        about = study.counts, len(study.queue[0]), study.value, study.removal
        both = map(torch.stack, zip(*curves, strict=True))
        return Curves(*about, study.written is not None, *both)

    return entry.answers.once(("faithfulness", method, output), compute)


@endpoint("perturbation", "image", slow=True)
def perturbation(entry: TraceEntry, method: str, proof: str, output: str = "") -> "Perturbation":
    """The probability of a class as patches are taken away or put back, by relevance."""
    from analysis import faithfulness as analysis

    def compute() -> "Perturbation":
        tokens, target = _relevant(Asked(entry, 0, "mean", method), output)
        kind: Any = proof
        with opened(entry) as (model, given, _):
            return analysis.perturbation(model, given, tokens, kind, target=target)

    return entry.answers.once(("perturbation", method, output, proof), compute)


def _relevant(asked: Asked, output: str) -> "tuple[Tensor, Target]":
    """The relevance of every token, and the output whose probability tests it."""
    if BY_NAME[asked.method].kind == "relevance":
        result = explanation_of(asked.entry, asked.method, output)
        return result.tokens, result.chosen
    return asked.read()[0], target_of(asked.entry, output)


# ---- a figure


def is_testable(request: Request) -> bool:
    """Whether the numbers of the method can be tested: of a text those of a relevance alone."""
    info = BY_NAME[request.selection.method]
    return info.kind == "relevance" or (request.picture is not None and info.of == "tower")


def answer(request: Request) -> Answer:
    """What happens to the output without the tokens of a relevance, and with them alone."""
    if not is_testable(request):
        known = ", ".join(names_of("relevance") if request.picture is None else NAMES)
        raise ValueError(
            f"method: expected one of {known}, whose faithfulness can be tested,"
            f" received {request.selection.method!r}"
        )
    about, tables = (_of_text if request.picture is None else _of_picture)(request)
    return Answer(description=about, tables=tables, layers=True, doubt=UNLIKE)


def _of_text(request: Request) -> tuple[str, list[Table]]:
    entry, chosen = request.entry, request.selection
    curves = faithfulness(entry, chosen.method, chosen.output)
    what = relevance(entry, chosen.method, chosen.output).explains
    names = ["by relevance"]
    tables = []
    for name, (title, axis) in CURVES.items():
        values = [*getattr(curves, name).numpy(force=True)]
        how = (title, axis, "drop of the output")
        tables.append(_table(chosen.method, name, names, curves.counts, values, what, *how))
    kept = "special ones and what the decoder reads stay" if curves.read else "special ones stay"
    about = (
        f"Faithfulness: how far {what}, {digits(curves.value)}, falls when tokens are"
        f" {REMOVED[curves.removal]}; {kept}. Band: {len(curves.sufficiency) - 1} random orders."
    )
    return about, tables


def _of_picture(request: Request) -> tuple[str, list[Table]]:
    entry, chosen = request.entry, request.selection
    result = perturbation(entry, **_asked(request))
    what = (
        f"the probability of “{chosen.output}”" if chosen.output else "that of the likeliest class"
    )
    if BY_NAME[chosen.method].kind == "relevance":
        what = relevance(entry, chosen.method, chosen.output).explains
    names = ["most relevant first", "least relevant first"]
    values = [each.numpy(force=True) for each in (result.most, result.least, *result.random)]
    title = f"Probability: score {result.score:+.4f}, above 0 is faithful"
    how = (title, "patches changed", "probability")
    counts = result.counts.tolist()
    says = PERTURBATIONS[chosen.proof]
    about = f"How {what} changes as {says}. Band: {len(result.random)} random orders."
    return about, [_table(chosen.method, chosen.proof, names, counts, values, what, *how)]


def _table(
    method: str,
    name: str,
    names: list[str],
    counts: list[int],
    values: list[np.ndarray],
    of: str,
    title: str,
    axis: str,
    words: str,
) -> Table:
    """Orders in which tokens are changed, those by relevance first, and what comes of it."""
    names = names + [f"{RANDOM} {n}" for n in range(1, len(values) - len(names) + 1)]
    title = f"{BY_NAME[method].title}. {title}"
    axes, labels = ("order", axis), {"order": names}
    return Table(
        *(f"{method}, {name}", axes, np.stack(values), labels, {"of": of}),
        places={axis: counts},
        title=title,
        words=words,
    )


def figure(answer: Answer, page: "Page") -> None:
    """The charts below each other, on one scale."""
    every = np.concatenate([table.values.ravel() for table in answer.tables])
    low, high = min(0.0, every.min()), max(LEAST, every.max())
    for table in answer.tables:
        page.heading(table.title)
        (across,) = table.places.values()
        axes = page.plot(120.0, table.axes[1], table.words)
        names = [name for name in table.labels["order"] if not name.startswith(RANDOM)]
        random = table.values[len(names) :]
        band = random.min(0), random.max(0)
        axes.fill_between(across, *band, color=INK.line, label="smallest to largest")
        lines = [*zip(names, table.values, strict=False), ("random orders, mean", random.mean(0))]
        for colour, (name, values) in zip(INK.heads, lines, strict=False):
            look = {"color": colour, "linewidth": 1.0, "marker": "o", "markersize": 2.0}
            axes.plot(across, values, label=name, **look)
        room = 0.05 * (high - low)
        axes.set_ylim(low - room, high + room)
        page.legend(axes)
        page.y += 6


def _asked(request: Request) -> dict[str, Any]:
    """What the test of a picture is asked with."""
    chosen = request.selection
    return {"method": chosen.method, "proof": chosen.proof, "output": chosen.output}


def asks(request: Request, entry: TraceEntry) -> list[str]:
    """The curves of the method, and those of random orders."""
    chosen = request.selection
    if not is_testable(request):
        return []
    if request.picture is not None:
        return [path_of("perturbation", **_asked(request))]
    return [path_of("faithfulness", method=chosen.method, output=chosen.output)]
