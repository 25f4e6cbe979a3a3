"""The edges that an output rests on, and its probability without them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from viz.api.endpoint import endpoint, path_of
from viz.api.entries import TraceEntry
from viz.api.pool import report
from viz.api.rerun import SAME, logit_of, name_in, opened
from viz.colours import scale_of
from viz.selection import Form
from viz.views.answer import Answer, Table, digits
from viz.views.request import Request

if TYPE_CHECKING:
    from jaxtyping import Float
    from torch import Tensor

    from analysis.blame import Blame, Edge, Span
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


@dataclass(frozen=True)
class BlameEdge:
    """An edge, and what cutting it would do to log p, in nats."""

    site: int
    head: int
    query: int
    key: int
    effect: float


@dataclass(frozen=True, eq=False)
class BlameAnswer:
    """What an output rests on (see `analysis.blame.Blame`), and its probability without that."""

    id: int
    name: str
    position: int | None
    labels: tuple[str, ...]
    tokens: "Float[Tensor, 'token']"
    spans: list[tuple[str, float]]
    edges: list[BlameEdge]
    path: list[BlameEdge]
    before: float
    after: float
    controls: tuple[float, ...]


@endpoint("blame", "text", slow=True)
def blame(entry: TraceEntry, output: str = "") -> BlameAnswer:
    """The edges that an output rests on, and what cutting them does, beside random edges."""
    from analysis.stack import self_attention

    target, id = logit_of(entry, output)
    result = entry.answers.once(("blame", output), lambda: _analysed(entry, target))
    trace, tokens = entry.trace, entry.trace.tokens[0]
    sites = {site.layer: trace.sites.index(site) for site in self_attention(trace)}

    def placed(edges: "Sequence[Edge]") -> list[BlameEdge]:
        return [BlameEdge(sites[each.layer], *each[1:]) for each in edges]

    def quoted(span: "Span") -> str:
        text = "".join(tokens.texts[span.start : span.stop]).strip()
        return text or tokens.labels[span.start]

    return BlameAnswer(
        id,
        name_in(entry, id),
        target.position,
        tokens.labels,
        result.tokens,
        [(quoted(span), span.share) for span in result.spans],
        placed(result.edges),
        placed(result.path),
        result.before,
        result.after,
        result.controls,
    )


def _analysed(entry: TraceEntry, target: Any) -> "Blame":
    from analysis.blame import blame

    with opened(entry) as (model, given, written):
        if written is not None:
            raise ValueError("blame follows one text: expected no encoder–decoder")
        result = blame(model, given, target=target, edits=entry.trace.edits, progress=report)
    here = float(target.probability(entry.trace.output))
    if abs(result.before - here) > SAME * here:
        raise ValueError(
            "the model was run again, and that pass is not the one of this trace (edits, a"
            f" cache, another input?): probability {result.before:.4f}, here {here:.4f}"
        )
    return result


@dataclass(frozen=True, eq=False, kw_only=True)
class Blamed(Answer):
    """The relevance of tokens, the first table, and under a title each edges in words."""

    lines: Mapping[str, Sequence[str]]


def answer(request: Request) -> Blamed:
    """The relevance of tokens, the edges, the path, and the check."""
    result = blame(request.entry, request.selection.output)
    sites = request.view.sites
    place = "" if result.position is None else f" at position {result.position}"
    what = f"“{result.name}”{place}"
    of, labels = {"of": what}, {"token": result.labels}
    about: dict[str, Any] = {
        "title": f"What {what} rests on: Σ A ⊙ ∇A of log p",
        "words": "relevance",
    }
    tokens = result.tokens.numpy(force=True)
    tables = [Table("relevance", ("token",), tokens, labels, of, **about)]
    lines = []
    for name, edges in (("edges", result.edges), ("path", result.path)):
        at = [
            sites[edge.site].where.coordinates
            | {"head": edge.head, "query": edge.query, "key": edge.key}
            for edge in edges
        ]
        effects = np.array([edge.effect for edge in edges])
        tables.append(Table(name, ("head",), effects, at=at))
        lines.append(
            [
                f"{digits(edge.effect)}   layer {sites[edge.site].layer}, head {edge.head}:"
                f" “{result.labels[edge.query]}” ({edge.query}) →"
                f" “{result.labels[edge.key]}” ({edge.key})"
                for edge in edges
            ]
        )
    runs = ["before", "edges cut"]
    runs += [f"random edges {draw}" for draw in range(1, len(result.controls) + 1)]
    shares = np.array([result.before, result.after, *result.controls])
    tables.append(Table("probability", ("run",), shares, {"run": runs}, of))
    checked = (
        f"These {len(result.edges)} edges cut: probability {digits(result.before)} →"
        f" {digits(result.after)}; as many random edges of the same layers, {len(result.controls)}"
        f" times: {digits(min(result.controls))} to {digits(max(result.controls))}."
    )
    return Blamed(
        description=f"Blame: what {what} rests on. {checked}",
        tables=tables,
        layers=True,
        doubt=DOUBT,
        lines={
            "The edges whose cut would lower log p most, in nats": lines[0],
            "The path from the output down to the input": lines[1],
            "The check": [checked],
        },
    )


def figure(answer: Blamed, page: "Page") -> None:
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


def asks(request: Request, entry: TraceEntry) -> list[str]:
    """The one test."""
    return [path_of("blame", output=request.selection.output)]
