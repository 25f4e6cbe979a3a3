"""The text, shaded: once for each head."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from viz.api.endpoint import path_of
from viz.colours import Scale, score_scale, weight_scale
from viz.selection import CUT, PLACE, Form
from viz.views.answer import Answer, Table
from viz.views.request import (
    Request,
    labels_of,
    name_of,
    rows_and_columns,
    weights_of,
)
from viz.views.sinks import hidden_of, hidden_sentence

if TYPE_CHECKING:
    from viz.api.entries import TraceEntry
    from viz.paper import Page

VIEW = Form(
    "text",
    "Text",
    "The text shaded by each head that is switched on",
    place=2,
    options=(*PLACE, "values", *CUT),
    module="text",
)


@dataclass(frozen=True, eq=False, kw_only=True)
class Texts(Answer):
    """A number of each token, once for each head: the rows of the one table.

    Attributes:
        scale: of the colours.
        marked: the token in question.
    """

    scale: Scale
    marked: int | None


def answer(request: Request) -> Texts:
    """The weights of one token on the text itself; once for each head."""
    query, key = labels_of(request)
    rows, columns = rows_and_columns(request)
    inward, choice = request.selection.inward, request.selection
    token = request.selection.token if request.selection.token is not None else rows.start
    span = columns if inward else rows
    if not 0 <= token - span.start < len(span):
        raise ValueError("token: expected one of the rows or columns that are shown")
    place = token - span.start
    axis, span = ("query", rows) if inward else ("key", columns)
    fixed = {"key" if inward else "query": token}
    scores = request.selection.values == "scores"
    what = "score" if scores else "weight"
    if inward:
        labels = query
        description = f"The {what} that each token gives to “{key[place]}” ({token})."
        values = [weights_of(request, head)[:, place] for head in request.heads]
    else:
        labels = key
        description = f"The {what} that “{query[place]}” ({token}) gives to each token."
        values = [weights_of(request, head)[place] for head in request.heads]
    maps = np.stack(values)
    hidden = hidden_of(request, rows if inward else range(token, token + 1))
    if hidden is not None:
        description += (
            f" {hidden_sentence(request, hidden, 'the weight' if inward else 'this row')}"
        )
        if not inward:
            maps[:, [key - columns.start for key in hidden.keys if key in columns]] = np.nan
    rescaled = choice.scale == "own"
    most = float(np.nan_to_num(maps).max())
    scale = score_scale(maps) if scores else weight_scale(most or 1.0 if rescaled else 1.0)
    marked = place if labels == (key if inward else query) else None
    at = [request.site.where.coordinates | {"head": head, **fixed} for head in request.heads]
    named = {"head": [name_of(head) for head in request.heads], axis: labels}
    return Texts(
        description=description,
        tables=[Table(what, ("head", axis), maps, named, at, {axis: span})],
        scale=scale,
        marked=marked,
    )


def figure(answer: Texts, page: "Page") -> None:
    """The text once for each head, on one scale."""
    from viz.parts import shaded

    (table,) = answer.tables
    labels = table.labels[table.axes[1]]
    for name, values in zip(table.labels["head"], table.values, strict=True):
        page.heading(name)
        shaded(page, labels, values, answer.scale, marked=answer.marked)
    page.bar(answer.scale)


def asks(request: Request, entry: "TraceEntry") -> list[str]:
    """Maps, and the exact row that the texts are shaded by."""
    chosen = request.selection
    axis = {"axis": "key" if chosen.inward else "query", "index": chosen.token}
    paths = []
    for head in request.heads:
        place = {"site": request.index, "head": head}
        paths.append(path_of("map", **place))
        if chosen.token is not None:
            paths.append(path_of("row", **place, **axis))
    return paths
