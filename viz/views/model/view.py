"""All layers together: the map or row of a method, or the relevance of each token."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from analysis.methods import BY_NAME, names_of
from analysis.percent import percent
from viz.api.endpoint import BOTH, TEXT, Endpoint, path_of
from viz.api.entries import TraceEntry
from viz.api.requests import one_of
from viz.colours import Veil, overlaid, scale_of
from viz.selection import RELEVANCE, VEIL, Chosen, Form
from viz.views import methods
from viz.views.answer import Answer, Table, digits
from viz.views.entries import image_entry, text_entry
from viz.views.faithfulness import view as faithfulness
from viz.views.request import Request, veil_of

if TYPE_CHECKING:
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
FUSED = {
    "mean": "their mean weight",
    "max": "their largest weight in each cell",
    "min": "their smallest weight in each cell",
}
SHORT = {"mean": "", "max": ", largest of heads", "min": ", smallest of heads"}


@dataclass(frozen=True, eq=False, kw_only=True)
class Row(Answer):
    """A map with one of its rows, or a row alone: its title, and its place in a map."""

    row: tuple[str, int]


@dataclass(frozen=True, eq=False, kw_only=True)
class Over(Answer):
    """Numbers of patches, "row col", over the picture; the title is that of the one table."""

    patches: np.ndarray
    picture: np.ndarray | None
    veil: Veil


@dataclass(frozen=True, eq=False, kw_only=True)
class Several(Answer):
    """The answers of one or two methods, and of their tests."""

    parts: Sequence[Answer]


def answer(request: Request) -> Several:
    """The map of a method where it has one, and a row of it; or the relevance of each token."""
    choice, known, parts = request.selection, [], list[Answer]()
    for chosen in choice.methods:
        again = chosen.name in known  # the same method, its heads fused in another way
        known.append(chosen.name)
        part = _of(request, chosen)
        tables = [replace(table, name=f"{table.name} beside") for table in part.tables]
        parts.append(replace(part, tables=tables) if again else part)
        if choice.tested and faithfulness.is_testable(request, chosen.name) and not again:
            parts.append(faithfulness.tested(request, chosen))
    infos = [BY_NAME[name] for name in known]
    return Several(
        description=" ".join(dict.fromkeys(part.description for part in parts)),
        tables=[table for part in parts for table in part.tables],
        layers=all(info.of == "tower" for info in infos),
        doubt=" ".join(dict.fromkeys(info.doubt for info in infos)),
        parts=parts,
    )


def _of(request: Request, chosen: Chosen) -> Answer:
    """What one method says."""
    info = BY_NAME[chosen.name]
    short, fused = _fused(chosen)
    if request.picture is not None:
        return _over(request, chosen, f"{info.title}{short}", fused)
    note = methods.note_of(request.view, chosen.name)
    said = f"{info.title}{short}. {info.shows}{fused}"
    said += f" {note[0].upper()}{note[1:]}." if note else ""
    if info.kind == "relevance":
        return Answer(description=said, tables=_relevance(request, chosen.name))
    return _row(request, chosen, f"{info.title}{short}", said)


def _row(request: Request, chosen: Chosen, name: str, said: str) -> Row:
    """A map and a row of it, or a row alone."""
    from analysis.sinks import resting_on

    info, row, place = BY_NAME[chosen.name], request.row, request.site.where.coordinates
    query = request.view.query_labels(request.site)
    key = request.view.key_labels(request.site)
    of_head = info.of == "head"
    head = request.heads[0] if of_head else "mean"
    fused = {each: getattr(chosen, each) for each in info.fused}
    at = place | {"head": head} if of_head else {n: place[n] for n in ("kind", "tower")} | fused
    title = f"{name}, row of “{query[row]}” ({row})"
    asked = methods.Asked(text_entry(request), request.index, head, *chosen)
    if info.kind == "row":
        values = asked.row(row, None).numpy(force=True)
        how: dict[str, Any] = {"title": title, "words": "value"}
        table = Table(chosen.name, ("key",), values, {"key": key}, at | {"query": row}, **how)
        return Row(description=said, tables=[table], row=(title, row))
    matrix = asked.map()
    values = matrix.numpy(force=True)
    if request.selection.sinks != "shown" and (resting := resting_on(matrix)) is not None:
        hidden, share = resting
        said += f" “{key[hidden]}” is hidden: {percent(share, '.3g')} of a row went there."
        values = values.copy()
        values[:, hidden] = 0
    how = {"title": name, "words": info.title}
    labels = {"query": query, "key": key}
    table = Table(chosen.name, ("query", "key"), values, labels, at, **how)
    return Row(description=said, tables=[table], row=(title, row))


def _relevance(request: Request, method: str) -> list[Table]:
    """The relevance of each token of the input, and of what a decoder read."""
    result = methods.relevance(text_entry(request), 0, method, request.selection.output)
    together = [f"all tokens together {digits(result.total)}"]
    together += [f"{digits(result.hidden)} of it on hidden tokens"] if result.hidden else []
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


def _over(request: Request, chosen: Chosen, title: str, fused: str) -> Over:
    """The numbers of a method over the picture."""
    from analysis.patches import grid_of

    entry, info = image_entry(request), BY_NAME[chosen.name]
    if info.kind == "relevance":
        result = methods.relevance(entry, 0, chosen.name, request.selection.output)
        about = f"{title} for {result.explains}, {digits(result.value)}"
    else:
        asked = _asked_over(request, chosen)
        result = methods.row_of(entry, **asked)
        token = asked.get("index")
        about = f"{title} from {result.reads if token is None else entry.trace.labels[token]}"
    (rows, cols), prefix = grid_of(entry.trace, entry.trace.sites[0])
    values = result.values.numpy(force=True)
    words = "relevance" if info.kind == "relevance" else "value"
    how: dict[str, Any] = {"title": about, "words": words}
    labels = {"token": entry.trace.labels}
    return Over(
        description=f"{title}. {info.shows} Tokens without a place on the picture are not"
        f" drawn.{fused}",
        tables=[Table(chosen.name, ("token",), values, labels, {"of": about}, **how)],
        patches=values[prefix : prefix + rows * cols].reshape(rows, cols),
        picture=request.picture,
        veil=veil_of(request),
    )


def _fused(chosen: Chosen) -> tuple[str, str]:
    """How a method fuses heads and what it leaves out: behind its name, and in sentences."""
    fused = BY_NAME[chosen.name].fused
    if "fusion" not in fused:
        return "", ""
    short, said = SHORT[chosen.fusion], f" A layer’s heads are fused by {FUSED[chosen.fusion]}."
    if "discard" in fused and chosen.discard:
        share = percent(chosen.discard, "g")
        short += f", {share} left out"
        said += f" The smallest {share} of each layer’s weights above 0 are left out."
    return short, said


def figure(answer: Several, page: "Page") -> None:
    """The parts below each other."""
    from viz.parts import Picture, matrix, pictures, shaded

    for part in answer.parts:
        if isinstance(part, faithfulness.Tested):
            faithfulness.figure(part, page)
            continue
        for table in part.tables:
            values, words = table.values, table.words
            page.heading(table.title)
            if isinstance(part, Over):
                scale = scale_of(part.patches, words, "dark")
                drawn = overlaid(part.patches, scale, part.picture, part.veil)
                pictures(page, [Picture("", drawn)])
                page.bar(scale)
                continue
            if isinstance(part, Row) and values.ndim == 2:
                query, key = (table.labels[axis] for axis in table.axes)
                matrix(page, [("", values)], query, key, scale_of(values, words), largest=14.0)
                title, row = part.row
                page.heading(title)
                values, words = values[row], "value"
            scale = scale_of(values, words)
            shaded(page, table.labels[table.axes[-1]], values, scale)
            page.bar(scale)


def asks(request: Request, entry: TraceEntry) -> list[str]:
    """Every method, and its test."""
    paths = [path for chosen in request.selection.methods for path in _asks(request, chosen)]
    return paths + (faithfulness.asks(request, entry) if request.selection.tested else [])


def _asks(request: Request, chosen: Chosen) -> list[str]:
    """What a method asks for: a map and a row, or parts of a row; or the relevance of tokens."""
    method = BY_NAME[chosen.name]
    if method.kind == "relevance":
        output = request.selection.output
        return [path_of("relevance", site=0, method=method.name, output=output)]
    if request.picture is not None:
        place, keys = _asked_over(request, chosen), request.view.sites[0].keys
    else:
        mine = request.site
        alike = [(site.kind, site.tower) for site in request.view.sites]
        of_tower = method.of == "tower"
        place: dict[str, Any] = {
            "site": alike.index((mine.kind, mine.tower)) if of_tower else request.index,
            "head": "mean" if of_tower else request.heads[0],
            "method": method.name,
            **{name: getattr(chosen, name) for name in method.fused},
        }
        keys = mine.keys
    row = place if request.picture is not None else place | {"index": request.row}
    if method.kind == "map":
        whole = [path_of("model", **place)] if request.picture is None else []
        return [*whole, path_of("model_row", **row)]
    spans = [range(start, min(keys, start + KEYS)) for start in range(0, keys, KEYS)]
    return [path_of("model_row", **row, columns=span) for span in spans]


def _asked_over(request: Request, chosen: Chosen) -> dict[str, Any]:
    """What the row of a method over a picture is asked with."""
    info, selection = BY_NAME[chosen.name], request.selection
    index = {"index": selection.query or 0} if selection.followed == "token" else {}
    fused = {name: getattr(chosen, name) for name in info.fused}
    return {
        "site": 0 if info.of == "tower" else request.index,
        "head": request.heads[0] if info.of == "head" else "mean",
        "method": chosen.name,
        **index,
        **{name: value for name, value in fused.items() if value not in ("mean", 0)},
    }


RELEVANCES = one_of(*names_of("relevance"))
ENDPOINTS = (
    Endpoint("model", TEXT, methods.map_of, method=one_of(*names_of("map"))),
    Endpoint("model_row", BOTH, methods.row_of, method=one_of(*names_of("map", "row"))),
    Endpoint("outputs", BOTH, methods.outputs),
    Endpoint("relevance", BOTH, methods.relevance, method=RELEVANCES),
)
