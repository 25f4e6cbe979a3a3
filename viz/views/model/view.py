"""All layers together: the map or row of a method, or the relevance of each token."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from analysis.methods import BY_NAME
from analysis.percent import percent
from viz.api.endpoint import path_of
from viz.api.entries import TraceEntry
from viz.colours import layer_of, scale_of, veiled
from viz.selection import RELEVANCE, Form
from viz.views import methods
from viz.views.answer import Answer, Table, digits
from viz.views.faithfulness import view as faithfulness
from viz.views.request import Request

if TYPE_CHECKING:
    from viz.paper import Page

VIEW = Form(
    "model",
    "All layers",
    "Every layer at once: rollout, flow, norms, relevance for an output",
    place=5,
    options=("query", *RELEVANCE, "tested", "proof", "followed", "sinks"),
    grouped=False,
    covers="layers",
    module="model",
    pictured=True,
)


@dataclass(frozen=True, eq=False, kw_only=True)
class Layers(Answer):
    """Numbers of tokens, or a map of them; then those of a test.

    Attributes:
        row: of a map, the row that stands below it: its title and place.
        grid: over a picture the grid of patches, and how many tokens stand before them.
        picture: uint8 "row col 3".
    """

    row: tuple[str, int] = ("", 0)
    grid: tuple[tuple[int, int], int] | None = None
    picture: np.ndarray | None = None


def answer(request: Request) -> Layers:
    """The map of a method where it has one, and a row of it; or the relevance of each token."""
    info = BY_NAME[request.selection.method]
    layers = _over(request) if request.picture is not None else _of_text(request)
    layers = replace(layers, layers=info.of == "tower", doubt=info.doubt)
    if not request.selection.tested or not faithfulness.is_testable(request):
        return layers
    test = faithfulness.answer(request)
    about = f"{layers.description} {test.description}"
    return replace(layers, description=about, tables=[*layers.tables, *test.tables])


def _of_text(request: Request) -> Layers:
    method = request.selection.method
    info, note = BY_NAME[method], methods.note_of(request.view, method)
    said = f"{info.title}. {info.shows}"
    said += f" {note[0].upper()}{note[1:]}." if note else ""
    if info.kind == "relevance":
        return Layers(description=said, tables=_relevance(request))
    return _row(request, said)


def _row(request: Request, said: str) -> Layers:
    """A map and a row of it, or a row alone."""
    from analysis.sinks import resting_on

    chosen, row, place = request.selection, request.row, request.site.where.coordinates
    info = BY_NAME[chosen.method]
    query = request.view.query_labels(request.site)
    key = request.view.key_labels(request.site)
    head = request.heads[0] if info.of == "head" else "mean"
    at = {name: place[name] for name in ("kind", "tower")}
    at = place | {"head": head} if info.of == "head" else at
    title = f"{info.title}, row of “{query[row]}” ({row})"
    asked = methods.Asked(request.entry, request.index, head, chosen.method)
    if info.kind == "row":
        values = asked.row(row).numpy(force=True)
        how: dict[str, Any] = {"title": title, "words": "value"}
        table = Table(chosen.method, ("key",), values, {"key": key}, at | {"query": row}, **how)
        return Layers(description=said, tables=[table])
    matrix = asked.map()
    values = matrix.numpy(force=True)
    if chosen.sinks != "shown" and (resting := resting_on(matrix)) is not None:
        hidden, share = resting
        said += f" “{key[hidden]}” is hidden: {percent(share, '.3g')} of a row went there."
        values = values.copy()
        values[:, hidden] = 0
    how = {"title": info.title, "words": info.title}
    labels = {"query": query, "key": key}
    table = Table(chosen.method, ("query", "key"), values, labels, at, **how)
    return Layers(description=said, tables=[table], row=(title, row))


def _relevance(request: Request) -> list[Table]:
    """The relevance of each token of the input, and of what a decoder read."""
    method = request.selection.method
    result = methods.relevance(request.entry, method, request.selection.output)
    together = [f"all tokens together {digits(result.total)}"]
    rest = result.unassigned
    together += [] if rest is None else [f"{digits(rest)} unassigned"]
    value = f"{BY_NAME[method].title} for {result.explains}, {digits(result.value)}"
    tables = []
    for name, site, values in (
        ("token", result.sites[0], result.values),
        ("token of the target", result.sites[1], result.read),
    ):
        if site is not None and values is not None:
            labels = {"token": request.view.query_labels(request.view.sites[site])}
            title = f"{value}; {', '.join(together)}: each {name}"
            how: dict[str, Any] = {"title": title, "words": "relevance"}
            given = values.numpy(force=True), labels, {"of": result.explains}
            tables.append(Table(f"{method}, {name}", ("token",), *given, **how))
    return tables


def _over(request: Request) -> Layers:
    """The numbers of a method over the picture."""
    from analysis.patches import grid_of

    entry, chosen = request.entry, request.selection
    info = BY_NAME[chosen.method]
    if info.kind == "relevance":
        result = methods.relevance(entry, chosen.method, chosen.output)
        about, words = f"{info.title} for {result.explains}, {digits(result.value)}", "relevance"
    else:
        asked = _asked(request)
        result, token = methods.row_of(entry, **asked), asked.get("index")
        from_ = result.reads if token is None else entry.trace.labels[token]
        about, words = f"{info.title} from {from_}", "value"
    labels = {"token": entry.trace.labels}
    how: dict[str, Any] = {"title": about, "words": words}
    values = result.values.numpy(force=True)
    return Layers(
        description=f"{info.title}. {info.shows} Tokens without a place on the picture are not"
        " drawn.",
        tables=[Table(chosen.method, ("token",), values, labels, {"of": about}, **how)],
        grid=grid_of(entry.trace, entry.trace.sites[0]),
        picture=request.picture,
    )


def figure(answer: Layers, page: "Page") -> None:
    """A map and its row, tokens shaded, or patches over the picture; the test below."""
    from viz.parts import Picture, matrix, pictures, shaded

    tests = [table for table in answer.tables if table.axes[0] == "order"]
    for table in answer.tables[: len(answer.tables) - len(tests)]:
        values, words = table.values, table.words
        page.heading(table.title)
        if answer.grid is not None:
            (rows, cols), prefix = answer.grid
            patches = values[prefix : prefix + rows * cols].reshape(rows, cols)
            scale = scale_of(patches, words, "dark")
            layer, grey = layer_of(patches, scale), scale.kind == "signed"
            pixels = veiled(layer, answer.picture, grey=grey)
            pictures(page, [Picture("", pixels)])
            page.bar(scale)
            continue
        if values.ndim == 2:
            query, key = (table.labels[axis] for axis in table.axes)
            matrix(page, [("", values)], query, key, scale_of(values, words), largest=14.0)
            title, row = answer.row
            page.heading(title)
            values, words = values[row], "value"
        scale = scale_of(values, words)
        shaded(page, table.labels[table.axes[-1]], values, scale)
        page.bar(scale)
    if tests:
        faithfulness.figure(replace(answer, tables=tests), page)


def asks(request: Request, entry: TraceEntry) -> list[str]:
    """A map and a row, or parts of a row; or the relevance of tokens; and the test."""
    chosen = request.selection
    tests = faithfulness.asks(request, entry) if chosen.tested else []
    info, asked = BY_NAME[chosen.method], _asked(request)
    if info.kind == "relevance":
        return [path_of("relevance", method=chosen.method, output=chosen.output), *tests]
    whole = {name: value for name, value in asked.items() if name != "index"}
    if info.kind == "map":
        maps = [path_of("model", **whole)] if request.picture is None else []
        return [*maps, path_of("model_row", **asked), *tests]
    return [path_of("model_row", **asked), *tests]


def _asked(request: Request) -> dict[str, Any]:
    """What the row of a method is asked with."""
    chosen, sites = request.selection, request.view.sites
    of_tower = BY_NAME[chosen.method].of == "tower"
    alike = [(site.kind, site.tower) for site in sites]
    first = alike.index((request.site.kind, request.site.tower))
    index = {"index": request.row}
    if request.picture is not None:
        index = {"index": chosen.query or 0} if chosen.followed == "token" else {}
    return {
        "site": first if of_tower else request.index,
        "head": "mean" if of_tower else request.heads[0],
        "method": chosen.method,
        **index,
    }
