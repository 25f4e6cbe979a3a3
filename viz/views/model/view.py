"""All layers together: the map or row of a method, or the relevance of each token."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from analysis.methods import BY_NAME, names_of
from analysis.percent import percent
from viz.api import model
from viz.api.endpoint import BOTH, HEAD, SITE, TEXT, WHOLE, Endpoint, options, path_of
from viz.api.requests import one_of
from viz.colours import scale_of
from viz.selection import RELEVANCE, VEIL, Chosen, Form
from viz.views.answer import Answer, Table, digits, given
from viz.views.entries import text_entry
from viz.views.faithfulness import view as faithfulness
from viz.views.faithfulness.view import (
    FUSED_OPTIONS,
    Curves,
    asks_of_curves,
    curves_of,
    explained,
    grouped,
    is_testable,
)
from viz.views.model.over_picture import Over, asks_over, drawn_over, over_picture
from viz.views.request import Request

if TYPE_CHECKING:
    from viz.api.entries import TraceEntry
    from viz.paper import Page

VIEW = Form(
    "model",
    "All layers",
    "Every layer at once: rollout, flow, norms, relevance for an output",
    place=5,
    options=(
        *("query", *RELEVANCE, "tested", "proof", "followed", "fusion", "discard", *VEIL),
        "sinks",
    ),
    grouped=False,
    covers="layers",
    module="model",
    pictured=True,
)
KEYS = 24  # of a method that is computed row by row, in one request, as in the view


@dataclass(frozen=True, eq=False, kw_only=True)
class Row(Answer):
    """A map with one of its rows, or a row alone.

    Attributes:
        row: the title of the row, and its place in a map.
    """

    row: tuple[str, int]


@dataclass(frozen=True, eq=False, kw_only=True)
class Several(Answer):
    """The answers of one or two methods, and of their tests."""

    parts: Sequence[Answer]


def answer(request: Request) -> Several:
    """The map of a method where it has one, and a row of it; or the relevance of each token."""
    choice = request.selection
    methods = [BY_NAME[method.name] for method in choice.methods]
    parts: list[Answer] = []
    for i, chosen in enumerate(choice.methods):
        again = methods[i] in methods[:i]  # the same method, its heads fused in another way
        part = _method(request, chosen) if request.picture is None else _over(request, chosen)
        tables = [replace(table, name=f"{table.name} beside") for table in part.tables]
        parts.append(replace(part, tables=tables) if again else part)
        if choice.tested and is_testable(request, chosen.name) and not again:
            parts.append(curves_of(request, chosen))
    return Several(
        description=" ".join(dict.fromkeys(part.description for part in parts)),
        tables=[table for part in parts for table in part.tables],
        layers=all(method.of == "tower" for method in methods),
        doubt=" ".join(dict.fromkeys(method.doubt for method in methods)),
        parts=parts,
    )


def _over(request: Request, chosen: Chosen) -> Over:
    """The same over a picture."""
    name = f"{BY_NAME[chosen.name].title}{_short(chosen)}"
    part = over_picture(request, chosen, name)
    return replace(part, description=f"{part.description}{fused_of(chosen)}")


def _method(request: Request, chosen: Chosen) -> Answer:
    from analysis.sinks import resting_on

    info, method = BY_NAME[chosen.name], chosen.name
    entry, site = text_entry(request), request.index
    if info.kind == "relevance":
        return _relevance(request, method)
    head = request.heads[0] if info.of == "head" else "mean"
    query, key = (
        request.view.query_labels(request.site),
        request.view.key_labels(request.site),
    )
    row = request.row
    name = f"{info.title}{_short(chosen)}"
    title = f"{name}, row of “{query[row]}” ({row})"
    description = f"{name}. {info.shows}{fused_of(chosen)}{grouped(request, method)}"
    at = _covered(request, chosen)
    if info.kind == "row":
        answered = model.row_of(entry, "", site, head, method, row, fusion=chosen.fusion)
        values, named = np.array(given(answered)["values"]), {"key": key}
        at |= {"query": row}
        table = Table(method, ("key",), values, named, at, title=title, words="value")
        return Row(description=description, tables=[table], row=(title, row))
    try:
        matrix = model.whole_map(entry, site, head, method, chosen.fusion, chosen.discard)
    except ValueError as error:
        raise ValueError(" ".join(str(error).split())) from error
    labels = {"query": query, "key": key}
    values = matrix.numpy(force=True)
    if request.selection.sinks != "shown" and (resting := resting_on(matrix)) is not None:
        hidden, share = resting
        description += f" “{key[hidden]}” is hidden: {percent(share, '.3g')} of a row went there."
        values = values.copy()
        values[:, hidden] = 0
    about: dict[str, Any] = {"title": name, "words": info.title}
    table = Table(method, ("query", "key"), values, labels, at, **about)
    return Row(description=description, tables=[table], row=(title, row))


def _covered(request: Request, chosen: Chosen) -> dict[str, Any]:
    """Coordinates of the sites that the numbers of a method are about, and how it fuses heads."""
    method, place = BY_NAME[chosen.name], request.site.where.coordinates
    if method.of == "head":
        return place | {"head": request.heads[0]}
    fused = {name: getattr(chosen, name) for name in method.fused}
    return {name: place[name] for name in ("kind", "tower")} | fused


def _relevance(request: Request, method: str) -> Answer:
    relevance = given(model.relevance(text_entry(request), "", 0, method, request.selection.output))
    source, target = (
        None if site is None else request.view.query_labels(request.view.sites[site])
        for site in relevance["sites"]
    )
    what = explained(request, relevance)
    info = BY_NAME[method]
    about = f"{info.title} for {what}, {digits(relevance['value'])}; {together(relevance)}"
    tables = []
    for name, labels, values in (
        ("token", source, relevance["values"]),
        ("token of the target", target, relevance["read"]),
    ):
        if labels is not None and values is not None:
            said: dict[str, Any] = {"title": f"{about}: each {name}", "words": "relevance"}
            named, of = {"token": labels}, {"of": what}
            numbers = np.array(values)
            tables.append(Table(f"{method}, {name}", ("token",), numbers, named, of, **said))
    description = f"{info.title}. {info.shows}{grouped(request, method)}"
    return Answer(description=description, tables=tables)


def together(relevance: Mapping[str, Any]) -> str:
    """The sum of a relevance over all tokens, hidden ones included, and what no token gets."""
    hidden, rest = relevance["hidden"], relevance["unassigned"]
    parts = [f"all tokens together {digits(relevance['total'])}"]
    parts += [f"{digits(hidden)} of it on hidden tokens"] if hidden else []
    parts += [] if rest is None else [f"{digits(rest)} unassigned"]
    return ", ".join(parts)


FUSED = {
    "mean": "their mean weight",
    "max": "their largest weight in each cell",
    "min": "their smallest weight in each cell",
}


SHORT = {"mean": "", "max": ", largest of heads", "min": ", smallest of heads"}


def _short(chosen: Chosen) -> str:
    """The same behind a name, where heads are not fused by their mean."""
    fused = BY_NAME[chosen.name].fused
    words = SHORT[chosen.fusion] if "fusion" in fused else ""
    if "discard" in fused and chosen.discard:
        words += f", {percent(chosen.discard, 'g')} left out"
    return words


def fused_of(chosen: Chosen) -> str:
    """How the heads of a layer were fused, and which weights were left out."""
    fused = BY_NAME[chosen.name].fused
    if "fusion" not in fused:
        return ""
    words = f" A layer’s heads are fused by {FUSED[chosen.fusion]}."
    if "discard" in fused and chosen.discard:
        share = percent(chosen.discard, "g")
        words += f" The smallest {share} of each layer’s weights above 0 are left out."
    return words


def figure(answer: Several, page: "Page") -> None:
    """The parts below each other."""
    for part in answer.parts:
        if isinstance(part, Over):
            drawn_over(part, page)
        elif isinstance(part, Curves):
            faithfulness.figure(part, page)
        else:
            for table in part.tables:
                _drawn(table, page, part.row if isinstance(part, Row) else None)


def _drawn(table: Table, page: "Page", row: tuple[str, int] | None) -> None:
    """A map and its row, or a number for each token."""
    from viz.parts import matrix, shaded

    values, words = table.values, table.words
    page.heading(table.title)
    if row is not None and values.ndim == 2:
        query, key = (table.labels[axis] for axis in table.axes)
        matrix(page, [("", values)], query, key, scale_of(values, words), largest=14.0)
        page.heading(row[0])
        values, words = values[row[1]], "value"
    scale = scale_of(values, words)
    shaded(page, table.labels[table.axes[-1]], values, scale)
    page.bar(scale)


def asks(request: Request, entry: "TraceEntry") -> list[str]:
    """Every method, and its test."""
    chosen = request.selection
    if request.picture is None:
        paths = [path for method in chosen.methods for path in _asks_of(request, method)]
    else:
        paths = [path for each in chosen.methods for path in asks_over(request, entry, each)]
    if chosen.tested:
        for method in chosen.methods:
            paths += asks_of_curves(request, entry, method)
    return paths


def _asks_of(request: Request, chosen: Chosen) -> list[str]:
    """What a method of the whole model asks for."""
    method, mine, row = BY_NAME[chosen.name], request.site, request.row
    if method.kind == "relevance":
        output = request.selection.output
        return [path_of("relevance", site=0, method=method.name, output=output)]
    sites = [(site.kind, site.tower) for site in request.view.sites]
    place = {
        "site": sites.index((mine.kind, mine.tower)) if method.of == "tower" else request.index,
        "head": request.heads[0] if method.of == "head" else "mean",
        "method": method.name,
        **{name: getattr(chosen, name) for name in method.fused},
    }
    if method.kind == "map":
        return [path_of("model", **place), path_of("model_row", **place, index=row)]
    spans = [range(start, min(mine.keys, start + KEYS)) for start in range(0, mine.keys, KEYS)]
    return [path_of("model_row", **place, index=row, columns=span) for span in spans]


ENDPOINTS = (
    Endpoint(
        "model", TEXT, model.map_of, {**HEAD, "method": one_of(*names_of("map"))}, FUSED_OPTIONS
    ),
    Endpoint(
        "model_row",
        BOTH,
        model.row_of,
        {**HEAD, "method": one_of(*names_of("map", "row"))},
        {"index": WHOLE, **options("columns"), **FUSED_OPTIONS},
    ),
    Endpoint(
        "outputs",
        BOTH,
        model.outputs,
        {**SITE, **options("direction")},
        {"token": WHOLE, **options("output")},
    ),
    Endpoint(
        "relevance",
        BOTH,
        model.relevance,
        {**SITE, "method": one_of(*names_of("relevance"))},
        options("output"),
    ),
)
