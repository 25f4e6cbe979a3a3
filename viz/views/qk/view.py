"""One pair of tokens: query and key element by element, and the steps to the weight."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from viz.api import heads
from viz.api.endpoint import HEAD, PAIR, TEXT, Endpoint, path_of
from viz.api.steps import pair_of
from viz.colours import scale_of
from viz.selection import Form
from viz.views.answer import Answer, Table, digits
from viz.views.entries import text_entry
from viz.views.request import Request

if TYPE_CHECKING:
    from viz.api.entries import TraceEntry
    from viz.paper import Page

VIEW = Form(
    "qk",
    "Query · key",
    "One pair of tokens: query and key element by element, and the steps to the weight",
    place=3,
    options=("query", "key"),
    grouped=False,
    module="query_key",
)


@dataclass(frozen=True, eq=False, kw_only=True)
class Pair(Answer):
    """Strips of elements, the steps, and what the score is split over, in this order.

    Attributes:
        title: the pair.
        lines: the steps in words.
        unsplit: why the score is not split; "" where it is.
    """

    title: str
    lines: Sequence[str]
    unsplit: str


def answer(request: Request) -> Pair:
    """Query and key, the steps to the weight, and the score split over what was written."""
    choice, entry = request.selection, text_entry(request)
    query, key = request.row, choice.key or 0
    pair = pair_of(entry, "", request.index, request.heads[0], query, key)
    strips = [(each["name"], np.array(each["values"])) for each in pair["strips"]]
    steps = [(s["name"], s["value"], s["how"]) for s in pair["steps"]]
    lines = [f"{name} = {digits(value)}   {how}" for name, value, how in steps]
    title = f"From “{pair['query']}” ({query}) to “{pair['key']}” ({key})"
    shares, unsplit = _split(request, query, key)
    values = np.array([np.nan if value is None else value for _, value, _ in steps])
    at = request.site.where.coordinates | {"head": request.heads[0], "query": query, "key": key}
    return Pair(
        description=f"{title}: query and key element by element, and the steps to the weight.",
        tables=[
            *(Table(n, ("element",), x, at=at, title=n, words="element") for n, x in strips),
            Table("step", ("step",), values, {"step": [name for name, _, _ in steps]}, at),
            *(replace(share, at=at) for share in shares),
        ],
        title=title,
        lines=[*lines, *pair["applied"]],
        unsplit=unsplit,
    )


def _split(request: Request, query: int, key: int) -> tuple[list[Table], str]:
    """The score split over what was written at the query and at the key; or why it is not."""
    try:
        split = heads.split(text_entry(request), "", request.index, request.heads[0], query, key)
    except ValueError as error:
        return [], " ".join(str(error).split())
    tables = []
    for side in ("query", "key"):
        named = {"component": [each["name"] for each in split[side]]}
        values = np.array([each["value"] for each in split[side]])
        title = f"The score, {digits(split['score'])}, split over what was written at the {side}"
        about: dict[str, Any] = {"title": title, "words": "share of the score"}
        tables.append(Table(f"share at the {side}", ("component",), values, named, **about))
    return tables, ""


def figure(answer: Pair, page: "Page") -> None:
    """Strips of cells; the steps below those of query and key."""
    from viz.parts import matrix

    for table in answer.tables:
        if table.name == "step":
            page.heading(answer.title)
            for line in answer.lines:
                page.lines(line)
            page.y += 8
            continue
        page.heading(table.title)
        names = table.labels.get("component", ())
        matrix(page, [("", table.values[None])], (), names, scale_of(table.values, table.words))
    if answer.unsplit:
        page.heading("Why this score")
        page.lines(answer.unsplit)


def asks(request: Request, entry: "TraceEntry") -> list[str]:
    """The pair."""
    pair = {"query": request.row, "key": request.selection.key or 0}
    return [path_of("pair", site=request.index, head=request.heads[0], **pair)]


ENDPOINTS = (
    Endpoint("pair", TEXT, pair_of, {**HEAD, **PAIR}),
    Endpoint("split", TEXT, heads.split, {**HEAD, **PAIR}),
)
