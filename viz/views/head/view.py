"""Inside a head: one query and its keys, their product, the weights, and what the head writes."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from viz.api.endpoint import QuestionError, endpoint, path_of
from viz.api.entries import TraceEntry
from viz.api.text import one_head, token_of
from viz.colours import scale_of
from viz.pack import VERSION, pack
from viz.selection import Form
from viz.views.answer import Answer, Table, digits
from viz.views.request import Request

if TYPE_CHECKING:
    from analysis.pair import Strip
    from analysis.split import Split
    from analysis.stages import Stages
    from analysis.view import View
    from models.trace import Site, Trace
    from viz.paper import Page

VIEW = Form(
    "head",
    "Inside a head",
    "One query and key of one head: their product, the steps to the weight, what the head writes",
    place=3,
    options=("query", "key"),
    grouped=False,
    module="head",
    pictured=True,
)
MATRICES = {
    "q": ("queries", "query", "feature"),
    "k": ("keys", "key", "feature"),
    "products": ("query · key", "query", "key"),
    "scores": ("scores, with bias and mask", "query", "key"),
    "weights": ("weights, after the softmax", "query", "key"),
    "v": ("values", "key", "feature"),
    "output": ("weights × values", "query", "feature"),
    "written": ("what the head writes at the query", "query", "feature"),
}
ROUNDING = 1e-6  # float32 weights that differ by less are the same
GROUPED = "between whole words or without special tokens: sums over keys, means over queries"


@dataclass(frozen=True, eq=False, kw_only=True)
class Inside(Answer):
    """The matrices of a head; then query and key element by element, and their steps.

    Attributes:
        title: the pair.
        pair: query and key, as the view counts them.
        at: query and key among the rows and keys of the matrices; None where it is left out.
        keys: how many keys there are in all.
        titles: of each of `MATRICES`.
        missing: why some of them are not there.
        steps: from the product to the weight: name, value and how.
        applied: what else the layer does to queries, keys or the softmax.
    """

    title: str
    pair: tuple[int, int]
    at: tuple[int, int | None]
    keys: int
    titles: Mapping[str, str]
    missing: Mapping[str, str]
    steps: Sequence[tuple[str, float, str]]
    applied: Sequence[str]


def answer(request: Request) -> Inside:
    """The head at the chosen pair."""
    entry, site, head = request.entry, request.index, request.heads[0]
    visible = inside(entry, site, head, request.selection.query, request.selection.key)
    try:
        shares = _shares(split(entry, site, head, *visible.pair), visible)
    except ValueError as error:
        return replace(visible, missing={**visible.missing, "split": str(error)})
    return replace(visible, tables=[*visible.tables, *shares])


def inside(
    entry: TraceEntry,
    site: int,
    head: int | str,
    query: int | None = None,
    key: int | None = None,
) -> Inside:
    """The head at a pair; what is not chosen of it, `opening` chooses.

    Raises:
        QuestionError: for a combination of heads, or a query or key that is not there.
    """
    from analysis.pair import pair
    from analysis.stages import stages

    trace, where, head = one_head(entry, site, head)
    visible = entry.view.sites[site]
    query, key = opening(entry.view, visible, head, query, key)
    row, column = token_of(entry, site, "out", query), token_of(entry, site, "in", key)
    of_head, of_pair = stages(trace, where, head, row), pair(trace, where, head, row, column)
    steps = [(step.name, step.value, step.how) for step in of_pair.steps]
    there = float(entry.view.weights(visible, head, rows=[query])[0, key])
    if abs(there - of_pair.weight) > ROUNDING:
        steps.append(("as shown in the matrix", there, GROUPED))
    place: dict[str, Any] = where.where.coordinates | {"head": head}
    labels = trace.query_labels(where)[row], trace.key_labels(where)[column]
    names = f"“{labels[0]}” ({query}) to “{labels[1]}” ({key})"
    changed = ", changed by an edit" * of_head.edited
    titles = {name: title for name, (title, *_) in MATRICES.items()}
    titles |= {"products": of_head.formula, "output": titles["output"] + changed}
    return Inside(
        description=f"One head from {names}: their product, the weight, and what it writes.",
        tables=[
            *_matrices(trace, where, of_head, place),
            *_steps(of_pair.strips, steps, place | {"query": query, "key": key}),
        ],
        title=f"From {names}",
        pair=(query, key),
        at=(of_head.chosen, of_head.keys.index(column) if column in of_head.keys else None),
        keys=visible.keys,
        titles=titles,
        missing={"written": of_head.reason},
        steps=steps,
        applied=of_pair.applied,
    )


def _matrices(
    trace: "Trace", site: "Site", stages: "Stages", place: Mapping[str, Any]
) -> Iterator[Table]:
    """Those that can be told, with the tokens of their rows and columns."""
    labels = {"query": trace.query_labels(site), "key": trace.key_labels(site)}
    for name, (_, *axes) in MATRICES.items():
        if (tensor := getattr(stages, name)) is None:
            continue
        chosen = stages.rows[stages.chosen : stages.chosen + 1]
        kept = {"query": chosen if name == "written" else stages.rows, "key": stages.keys}
        positions = {axis: kept[axis] for axis in axes if axis in kept}
        named = {axis: [labels[axis][i] for i in at] for axis, at in positions.items()}
        values = np.atleast_2d(tensor.numpy(force=True).astype(np.float32))
        yield Table(name, tuple(axes), values, named, place, positions)


def _steps(
    strips: "Sequence[Strip]", steps: Sequence[tuple[str, float, str]], place: Mapping[str, Any]
) -> Iterator[Table]:
    """Query and key element by element, and the numbers from their product to the weight."""
    for strip in strips:
        values = strip.values.numpy(force=True).astype(np.float32)
        name = f"{strip.name} of the pair"
        yield Table(name, ("element",), values, at=place, title=strip.name, words="element")
    values = np.array([value if math.isfinite(value) else np.nan for _, value, _ in steps])
    yield Table("step", ("step",), values, {"step": [name for name, *_ in steps]}, place)


def opening(
    view: "Trace | View", site: "Site", head: int, query: int | None, key: int | None
) -> tuple[int, int]:
    """A query and a key, of which neither, one or both are chosen.

    Without a query it is the last word, or the one that gives the chosen key most. Without a key
    it is the row's strongest one beside the query itself and what heads rest on: special tokens,
    and the first of a text that reads itself.
    """
    from analysis.overview import column_of

    if query is None and key is not None and key < site.keys:
        return int(column_of(view, site, head, key).argmax()), key
    if query is None:
        words = [n for n, rests in enumerate(view.queries(site)[0].special) if not rests]
        query = (words or range(site.queries))[-1]
    if key is None and query < site.queries:
        row = view.weights(site, head, rows=[query])[0]
        others = row.clone()
        special = view.keys(site)[0].special
        others[[place for place, rests in enumerate(special) if rests]] = 0
        if site.kind != "cross":
            others[[0, query + site.keys - site.queries]] = 0
        key = int((others if others.max() > 0 else row).argmax())
    return query, 0 if key is None else key


@endpoint("split")
def split(entry: TraceEntry, site: int, head: int | str, query: int, key: int) -> "Split":
    """The score of a query and a key, split over what wrote them."""
    from analysis.split import split

    trace, where, number = one_head(entry, site, head)
    row, column = token_of(entry, site, "out", query), token_of(entry, site, "in", key)
    try:
        with entry.forward_pass():
            return split(trace, where, number, row, column)
    except ValueError as error:
        raise QuestionError(" ".join(str(error).split())) from None


def _shares(split: "Split", visible: Inside) -> list[Table]:
    """What was written at the query, and at the key."""
    title = f"The score, {digits(split.score)}, split over what was written at the"
    return [
        Table(
            f"share at the {side}",
            ("component",),
            np.array([each.value for each in shares]),
            {"component": [each.name for each in shares]},
            visible.tables[-1].at,
            title=f"{title} {side}",
            words="share of the score",
        )
        for side, shares in (("query", split.query), ("key", split.key))
    ]


def figure(answer: Inside, page: "Page") -> None:
    """The matrices below each other, each with its own colours; the pair and its steps."""
    from viz.parts import matrix

    tables = {table.name: table for table in answer.tables}
    for name, title in answer.titles.items():
        page.y += 4
        page.heading(title)
        if name not in tables:
            page.lines(answer.missing[name])
            continue
        table = tables.pop(name)
        rows, cols = (table.labels.get(axis, ()) for axis in table.axes)
        scale = scale_of(table.values, title)
        matrix(page, [("", table.values)], rows, cols, scale, largest=14.0)
    page.heading(answer.title)
    for name, value, how in answer.steps:
        page.lines(f"{name} = {digits(value if math.isfinite(value) else None)}   {how}")
    for line in answer.applied:
        page.lines(line)
    del tables["step"]
    for table in tables.values():
        page.y += 8
        page.heading(table.title)
        names = table.labels.get("component", ())
        matrix(page, [("", table.values[None])], (), names, scale_of(table.values, table.words))
    if "split" in answer.missing:
        page.heading("Why this score")
        page.lines(answer.missing["split"])


@endpoint("inside")
def packed(
    entry: TraceEntry,
    site: int,
    head: int | str,
    query: int | None = None,
    key: int | None = None,
) -> bytes:
    """The answer for the browser: its numbers as float32."""
    visible = inside(entry, site, head, query, key)
    tables = {table.name: table for table in visible.tables if table.name != "step"}
    scores = tables["scores"]
    header = {
        "query": visible.pair[0],
        "key": visible.pair[1],
        "at": list(visible.at),
        "of": visible.keys,
        "missing": dict(visible.missing),
        "titles": dict(visible.titles),
        "tokens": {
            axis: [
                {"index": place, "label": label}
                for place, label in zip(scores.places[axis], scores.labels[axis], strict=True)
            ]
            for axis in scores.axes
        },
        "numbers": {
            name: {"shape": list(table.shape), "at": table}
            for name, table in (
                (name, np.atleast_2d(table.values)) for name, table in tables.items()
            )
        },
        "steps": [
            {"name": name, "value": value if math.isfinite(value) else None, "how": how}
            for name, value, how in visible.steps
        ],
        "applied": list(visible.applied),
    }
    return pack({"v": VERSION, "inside": header})


def asks(request: Request, entry: TraceEntry) -> list[str]:
    """The head at the pair."""
    query, key = pair_of(request)
    return [path_of("inside", site=request.index, head=request.heads[0], query=query, key=key)]


def pair_of(request: Request) -> tuple[int, int]:
    """The query and key that are shown."""
    chosen, head = request.selection, request.heads[0]
    one_head(request.entry, request.index, head)
    return opening(request.view, request.site, int(head), chosen.query, chosen.key)
