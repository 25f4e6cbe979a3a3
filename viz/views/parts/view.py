"""What each head and each MLP adds to a logit, or to the difference of two."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from viz.api.endpoint import endpoint, path_of
from viz.api.entries import TraceEntry
from viz.api.rerun import logit_of, name_in
from viz.colours import Scale
from viz.selection import Form
from viz.views.answer import Answer, Table, digits
from viz.views.blame import view as blame
from viz.views.request import Request, site_name

if TYPE_CHECKING:
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


@dataclass(frozen=True)
class PartsOfSite:
    """What the heads of a site add, and the MLP behind the last site of a layer."""

    site: int
    heads: list[float]
    mlp: float | None = None


@dataclass(frozen=True)
class LogitParts:
    """What each part adds to the logit of an output, or to it less that of a second one.

    All sum to `sum`, which equals the `logit`; `rest` has the parts that are no heads and MLPs.
    """

    id: int
    name: str
    position: int
    versus: str | None
    rows: list[PartsOfSite]
    rest: dict[str, float]
    sum: float
    logit: float


@endpoint("parts", "text")
def parts(entry: TraceEntry, output: str = "", versus: str = "") -> LogitParts:
    """What each part of the network adds to a logit, or to the difference of two."""
    from analysis.attribution import logit_attribution

    trace, (target, id) = entry.trace, logit_of(entry, output)
    other = logit_of(entry, versus)[1] if versus else None
    place = target.position
    if place is None:
        raise ValueError("only a token’s logit is divided; All layers shows what a class rests on")

    def compute() -> dict[str, float]:
        with entry.forward_pass():
            return logit_attribution(trace, id, query=place, versus=other)

    rest = dict(entry.answers.once(("parts", output, versus), compute))
    whole, tower, rows = sum(rest.values()), trace.sites[-1].tower, []
    own_sites = [(i, site) for i, site in enumerate(trace.sites) if site.tower == tower]
    last = {site.layer: i for i, site in own_sites}
    for i, site in own_sites:
        word = "cross head" if site.kind == "cross" else "head"
        names = [f"layer {site.layer}, {word} {head}" for head in range(site.heads)]
        mlp = rest.pop(f"layer {site.layer}, MLP", None) if last[site.layer] == i else None
        rows.append(PartsOfSite(i, [rest.pop(name, 0.0) for name in names], mlp))
    logits = target.logits(trace.output)
    logit = float(logits[id]) - (0.0 if other is None else float(logits[other]))
    less = None if other is None else name_in(entry, other)
    return LogitParts(id, name_in(entry, id), place, less, rows, rest, whole, logit)


@dataclass(frozen=True, eq=False, kw_only=True)
class Parts(Answer):
    """The parts of a logit.

    Attributes:
        title: of the cells.
        values: "layer head", with the MLP in the last column.
        layers_named: a name for each layer.
        rest: what does not stand in the cells, in words.
    """

    title: str
    values: np.ndarray
    layers_named: Sequence[str]
    rest: Sequence[str]


def answer(request: Request) -> Parts:
    """What every part adds."""
    chosen = request.selection
    result = parts(request.entry, chosen.output, chosen.versus)
    less = "" if result.versus is None else f", less that of “{result.versus}”"
    what = f"the logit of “{result.name}” at position {result.position}{less}"
    sites = [request.view.sites[row.site] for row in result.rows]
    values = np.full((len(sites), max(site.heads for site in sites) + 1), np.nan)
    at, others = [], dict[str, float]()
    for line, row, site in zip(values, result.rows, sites, strict=True):
        line[: len(row.heads)] = row.heads
        at += [site.where.coordinates | {"head": head} for head in range(site.heads)]
        if row.mlp is not None:
            line[-1] = row.mlp
            others[f"layer {site.layer}, MLP"] = row.mlp
    others |= result.rest
    heads = np.array([value for row in result.rows for value in row.heads])
    more = np.array([*others.values()])
    total = f"All parts together {digits(result.sum)}; {what} is {digits(result.logit)}."
    description = f"Direct logit attribution: what each head and MLP adds to {what}."
    return Parts(
        description=description,
        tables=[
            Table("heads", ("head",), heads, at=at),
            Table("other parts", ("part",), more, {"part": [*others]}, {"of": what}),
        ],
        layers=True,
        doubt=DOUBT,
        title=f"What each head and each MLP adds to {what}",
        values=values,
        layers_named=[site_name(site, request.view.sites) for site in sites],
        rest=[*(f"{name}: {digits(value)}" for name, value in result.rest.items()), total],
    )


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


def asks(request: Request, entry: TraceEntry) -> list[str]:
    """The parts, and blame."""
    chosen = request.selection
    paths = [path_of("refused"), path_of("parts", output=chosen.output, versus=chosen.versus)]
    return paths + (blame.asks(request, entry) if chosen.tested else [])
