"""A self-contained page: the view itself, its code and its data. It needs no server, no network."""

import io
import json
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from analysis.methods import BY_NAME
from viz.export.request import One, Request, caption, layers_of
from viz.selection import EVERY, FORM, OF_VIEWS, Chosen, Selection

if TYPE_CHECKING:
    from analysis.view import View
    from models.trace import Trace
    from viz.api.entries import TraceEntry

LARGEST = 2 * 2**20  # bytes of a page with whatever fits beside the heads that were asked for
EXACT = 40_000  # weights up to which the exact rows are held too
ID = "page"
SHOWN_IN: dict[
    str, dict[str, str]
] = {  # what a view has chosen where the form is not on the screen
    "atlas": {},
    "image": {},
    "scatter": {"overview": "scatter"},
    "numbers": {"overview": "table"},
    "vectors": {"form": "matrix"},
    "faithfulness": {"form": "model", "tested": "yes"},
}
KEYS = 24  # of attention flow or DecompX in one request, as in the view

Answers = dict[str, Callable[[], Any]]


def page(request: Request, view: str) -> bytes:
    """The page; it holds the heads that were asked for, then as many others as fit."""
    from headscope_views import standalone

    title = caption(request, "").title
    props = props_of(request, view)
    wanted, more = image_answers(request) if view == "image" else text_answers(request, view)
    held = {path: encoded(ask()) for path, ask in wanted.items()}
    size = len(standalone.page(held, props, title=title))
    for path, ask in more.items():
        found = encoded(ask())
        size += 4 * len(found) // 3 + len(path) + 8
        if size > LARGEST:
            break
        held[path] = found
    return standalone.page(held, props, title=title).encode()


def props_of(request: Request, view: str) -> dict[str, Any]:
    """The props of the view; its form and what is chosen in it."""
    site, selection = request.site, request.selection  # chosen in an atlas, too
    start: dict[str, Any] = {"layer": site.layer, "attention": site.kind, "tower": site.tower}
    start |= {"module": site.module, "part": site.part, "head": request.heads[0]}
    start |= {
        name: option.held(getattr(selection, name))
        for name, option in OF_VIEWS.items()
        if name in FORM[view].options
    }
    start |= {"scale": selection.scale} | SHOWN_IN.get(view, {"form": view})
    token = selection.query if "query" in FORM[view].options else selection.token
    start |= {} if token is None else {"token": token, "direction": selection.direction}
    if view == "qk":
        start["partner"] = selection.key or 0
    if not request.every and len(request.heads) > 1:
        start["shown"] = ".".join(map(str, request.heads))
    props: dict[str, Any] = {"start": start, "panels": ["code"]}
    if view == "image":
        return props | {"kind": "image"}
    return props | {"kind": "text"} | ({} if view in EVERY else {"parts": ["matrix", "tokens"]})


def encoded(answer: Any) -> bytes:
    """An answer of the API as bytes."""
    from viz.api.entries import Download

    if isinstance(answer, dict):
        return json.dumps(answer, ensure_ascii=False).encode()
    if isinstance(answer, Download):
        return answer.data
    return answer[0] if isinstance(answer, tuple) else answer


def text_answers(request: Request, view: str = "matrix") -> tuple[Answers, Answers]:
    """What the view of a text asks for: at once, and later."""
    from viz.api import provenance, text

    entry, sites, chosen = text_entry(request), request.shown.sites, request.index

    def maps(site: int, heads: tuple[One, ...]) -> Answers:
        ask = partial(text.map_of, entry, ID, site)
        return {f"map?site={site}&head={head}": partial(ask, head) for head in heads}

    heads = request.heads
    wanted: Answers = {"overview": partial(text.overview, entry, ID), **maps(chosen, heads)}
    wanted[f"provenance?site={chosen}"] = partial(provenance.provenance, entry, ID, chosen)
    for head in heads:
        path = f"code?site={chosen}&head={head}"
        wanted[path] = partial(provenance.code, entry, ID, chosen, head)
    wanted |= _form_answers(request, entry, view)
    more: Answers = {}
    if not text.is_short(request.shown):
        ask = partial(text.thumbs_of, entry, ID)
        more = {f"thumbs?site={site}": partial(ask, site) for site in range(len(sites))}
    queries = sites[chosen].queries
    if queries * sites[chosen].keys * len(heads) <= EXACT:
        for head in heads:
            ask = partial(text.row_of, entry, ID, chosen, head, "query")
            start = f"row?site={chosen}&head={head}&axis=query&index="
            more |= {f"{start}{row}": partial(ask, row) for row in range(queries)}
    for site in sorted(range(len(sites)), key=lambda site: abs(site - chosen)):
        more |= maps(site, (*range(sites[site].heads), "mean", "max"))
    return wanted, {path: ask for path, ask in more.items() if path not in wanted}


def _form_answers(request: Request, entry: "TraceEntry", view: str) -> Answers:
    """What a form asks for beside the maps and rows of weights."""
    from viz.api import heads, steps, text

    site, head, choice = request.index, request.heads[0], request.selection
    place, query, key = f"site={site}&head={head}", choice.query or 0, choice.key or 0
    if view == "matrix":
        filters, log = request.selection, request.selection.scale == "log"
        values = f"&values={filters.values}" if filters.values != "weights" else ""
        sinks = f"&sinks={filters.sinks}" if filters.sinks != "shown" else ""
        variant = f"{values}{sinks}{'&coding=log' if log else ''}"
        asked = {"values": filters.values, "sinks": filters.sinks}
        asked |= {"coding": "log"} if log else {}
        return {
            f"map?site={site}&head={each}{variant}": partial(
                text.map_of, entry, ID, site, each, **asked
            )
            for each in (request.heads if variant else ())
        }
    if view == "text":
        return _text_answers(request, entry)
    if view == "qk":
        ask = partial(steps.pair_of, entry, ID, site, head, query, key)
        return {f"pair?{place}&query={query}&key={key}": ask}
    if view == "stages":
        ask = partial(steps.stages_of, entry, ID, site, head, query)
        return {f"stages?{place}&query={query}": ask}
    if view == "numbers":
        return {"numbers": partial(heads.numbers, entry, ID)}
    if view == "vectors":
        return {f"vectors?{place}": partial(heads.vectors, entry, ID, site, head)}
    if view == "scatter":
        found: Answers = {"numbers": partial(heads.numbers, entry, ID)}
        if "similarity" in choice.plot:
            found["similarity"] = partial(heads.similarity, entry, ID)
        return found
    if view in ("model", "faithfulness"):
        tested = choice.tested or view == "faithfulness"
        parts = [_method_answers(request, entry, method, query) for method in choice.methods]
        if tested:
            parts += [_curve_answers(request, entry, method.name) for method in choice.methods]
        return {path: ask for part in parts for path, ask in part.items()}
    return {}


def _text_answers(request: Request, entry: "TraceEntry") -> Answers:
    """What the shaded texts ask for: maps, and the exact row or mean that they are shaded by."""
    from viz.api import filters, text

    found: Answers = {}
    axis = "key" if request.selection.inward else "query"
    for each in layers_of(request):
        for head in each.heads:
            place, of = f"site={each.index}&head={head}", (entry, ID, each.index, head)
            found[f"map?{place}"] = partial(text.map_of, *of)
            if request.selection.average:
                found[f"average?{place}"] = partial(filters.average_of, *of)
            elif request.selection.token is not None:
                row = partial(text.row_of, *of, axis, request.selection.token)
                found[f"row?{place}&axis={axis}&index={request.selection.token}"] = row
    return found


def _method_answers(request: Request, entry: "TraceEntry", chosen: Chosen, query: int) -> Answers:
    """What a method of the whole model asks for."""
    from viz.api import model

    method, output = BY_NAME[chosen.name], request.selection.output
    if method.kind == "relevance":
        asked = f"&output={quote(output)}" if output else ""
        ask = partial(model.relevance, entry, ID, 0, method.name, output)
        return {f"relevance?site=0&method={method.name}{asked}": ask}
    sites, own = request.shown.sites, request.site
    first = next(
        i for i, site in enumerate(sites) if (site.kind, site.tower) == (own.kind, own.tower)
    )
    site = first if method.of == "tower" else request.index
    head = request.heads[0] if method.of == "head" else "mean"
    place = f"site={site}&head={head}&method={method.name}"
    fused = {
        name: value
        for name in method.fused
        if (value := getattr(chosen, name)) != getattr(Selection, name)
    }
    place += "".join(f"&{name}={value}" for name, value in fused.items())
    row = partial(model.row_of, entry, ID, site, head, method.name, query, **fused)
    if method.kind == "map":
        whole = partial(model.map_of, entry, ID, site, head, method.name, **fused)
        return {f"model?{place}": whole, f"model_row?{place}&index={query}": row}
    spans = [range(start, min(own.keys, start + KEYS)) for start in range(0, own.keys, KEYS)]
    return {
        f"model_row?{place}&index={query}&columns={span.start}-{span.stop}": partial(
            row, columns=span
        )
        for span in spans
    }


def _curve_answers(request: Request, entry: "TraceEntry", method: str) -> Answers:
    """What the test of a relevance asks for: its curves, and those of random orders."""
    from viz.api import model

    output = request.selection.output
    if BY_NAME[method].kind != "relevance":
        return {}
    asked = f"&output={quote(output)}" if output else ""
    first = model.faithfulness(entry, ID, 0, method, 0, output)
    return {
        f"faithfulness?site=0&method={method}&order={order}{asked}": partial(
            model.faithfulness, entry, ID, 0, method, order, output
        )
        for order in range(first.get("orders", 1))
    }


def image_answers(request: Request) -> tuple[Answers, Answers]:
    """What the view of a picture asks for: at once, and later."""
    from viz.api import image, provenance

    entry, chosen = image_entry(request), request.index
    layers: Answers = {
        f"layer?site={site}": partial(image.layer_of, entry, ID, site)
        for site in range(len(request.shown.sites))
    }
    wanted: Answers = {
        "overview": partial(image.overview, entry, ID),
        "picture": partial(image.picture, entry, ID),
        f"layer?site={chosen}": layers.pop(f"layer?site={chosen}"),
        f"sinks?site={chosen}&outliers=no": partial(image.sinks_of, entry, ID, chosen),
        f"sinks?site={chosen}&outliers=yes": partial(
            image.sinks_of, entry, ID, chosen, outliers=True
        ),
        f"provenance?site={chosen}": partial(provenance.provenance, entry, ID, chosen),
    }
    return wanted, layers


def text_entry(request: Request) -> "TraceEntry":
    """The entry that the view's requests are answered from."""
    from viz.api.entries import TraceEntry

    if request.entry is not None:
        return request.entry
    opened = None if request.run is None else partial(_opened, *request.run)
    return TraceEntry(request.shown, partial(code_of, request.shown), opened=opened)


def _opened(model: Any, given: Any, written: Any = None) -> tuple[Any, Any, Any]:
    from models.run import as_model

    return as_model(model), given, written


def image_entry(request: Request) -> "TraceEntry":
    """The entry that the view's requests are answered from."""
    import numpy as np
    from PIL import Image

    from viz.api.entries import Patches, TraceEntry
    from viz.image import Picture

    if request.entry is not None:
        return request.entry
    trace: Any = request.shown
    rows, cols = trace.grid
    pixels = request.picture
    if pixels is None:
        pixels = np.full((16 * rows, 16 * cols, 3), 200, np.uint8)
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "PNG", optimize=True)
    dim = trace.pattern(trace.sites[0]).q.shape[1] * trace.pattern(trace.sites[0]).q.shape[3]
    picture = Picture(file.getvalue(), "image/png")
    cut = Patches(picture, pixels.shape[0] // rows, dim, "c p1 p2")
    return TraceEntry(trace, partial(code_of, trace), patches=cut)


def code_of(shown: "Trace | View", site: int, head: int | str) -> str:
    """Python code for the weights, given the trace."""
    place = shown.address(shown.sites[site]).arguments
    if isinstance(head, int):
        return f"t.weights({', '.join([*place, f'head={head}'])})  # query × key"
    combined = {"mean": "mean(0)", "max": "amax(0)"}[head]
    return f"t.weights({', '.join(place)}).{combined}  # query × key"
