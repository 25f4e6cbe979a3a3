"""`export`: a figure, a page or the numbers of a trace, as the suffix of the path says.

Figures are light, made for paper; the same call gives the same bytes.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from viz.export.entries import entry_of
from viz.export.numbers import csv_table, npz
from viz.export.page import page
from viz.selection import OF_ANSWERS, OF_FILES, Selection
from viz.values import SPAN
from viz.views import EVERY, FORM, VIEWS, WHOLE
from viz.views.request import Heads, Request, caption, heads_of, one_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from PIL.Image import Image

    from analysis.view import View
    from models.trace import Site, Trace, Where
    from viz.caption import Caption
    from viz.paper import Draw

FIGURES = (".svg", ".pdf", ".png")
OTHERS: dict[str, Callable[[Request, str], bytes]] = {".html": page, ".npz": npz, ".csv": csv_table}
FORMATS = (*FIGURES, *OTHERS)
PLACE = ("scale", "token", "direction", *OF_ANSWERS)  # what a page opens with, whatever its form


def export(
    t: "Trace | View | Any",
    path: str | Path,
    *,
    tokens: Any = None,
    view: str = "matrix",
    layer: "int | Site | Where | None" = None,
    head: Heads = None,
    **options: Any,
) -> Path:
    """Writes a figure, or the numbers in it; the suffix of the path says which.

    Args:
        t: a trace, or a view of it by words; or weights, as for `from_weights`.
        path: ends in .svg, .pdf, .png (300 dpi), .html (a page that needs no server), .npz or .csv.
        tokens: of weights, as for `from_weights`.
        view: "matrix", "lines", "atlas" (every head of every layer), "text" (tokens shaded by a
            token's weights), "head" (inside a head: a query and its keys up to what is written),
            "model" (all layers together), "faithfulness" (whether a relevance is borne out by
            removing tokens), "lens" (what each layer would predict), "parts" (what each head and
            MLP adds to a logit), "blame" (the edges an output rests on), "numbers" (every number
            of every head), "image" (weights over the picture), "pictures" (where a word of an
            answer looked on the pictures beside a text) or "sound" (when words are spoken, and
            where a head listens).
        layer: which layer, −1 is the last, or a site or its address; not needed for the atlas.
        head: one head, several, "mean" or "max"; None for all heads of the layer.
        options: where a layer has several attentions, `kind` ("self", "causal" or "cross"),
            `tower`, `module` (its path) and `part` (which run of a tower); `picture`, the one that
            was traced, of "image"; `run`, (model, input) or (model, input, target) as they were
            traced, for what the trace does not hold: relevance, lens, parts and blame, hidden
            states, and what is asked of the model about its pictures; `words=False` to leave title
            and caption to the paper and the metadata of the file; and the fields of
            `viz.selection.Selection`: `scale` of the colours ("fixed" from 0 to 1, "own" up to the
            largest weight shown; of "image" "layer"), `token` whose weights are
            drawn, `direction` ("out" for what it attends to, "in" for what attends to it),
            `values="scores"`, `query=3`, `method="alti"`.

    Returns:
        The path.

    Raises:
        ValueError: for a view, suffix, layer, head or token that is not there.
        OSError: if the file cannot be written; nothing of it is left then.
    """
    from models.given import as_trace
    from models.whole_file import write_whole

    path = Path(path)
    request = request_of(as_trace(t, tokens), view, layer, head, **options)
    write_whole(path, render(request, view, path.suffix.lower()))
    return path


def figure(
    t: "Trace | View | Any",
    tokens: Any = None,
    *,
    view: str = "matrix",
    ax: "Axes | None" = None,
    layer: "int | Site | Where | None" = None,
    head: Heads = None,
    **options: Any,
) -> "Figure":
    """Draws a view by matplotlib.

    Args:
        t: a trace, or a view of it by words; or weights, as for `from_weights`.
        tokens: of weights.
        view: as for `export`, like the other arguments.
        ax: axes of one's own, which the figure fits; None makes a figure of its own, with title
            and caption.
        layer: which layer.
        head: one head, several, "mean" or "max"; None for all heads of the layer.
        options: as for `export`.

    Returns:
        The figure; of `ax` the one that it is part of.

    Raises:
        ValueError: for a view, layer, head or token that is not there.
    """
    from models.given import as_trace
    from viz import paper

    options = {"words": ax is None, **options}
    request = request_of(as_trace(t, tokens), view, layer, head, **options)
    page = page_of(request, view)
    return paper.sheet([page]) if ax is None else paper.on(ax, *page)


def request_of(
    t: "Trace | View",
    view: str,
    layer: "int | Site | Where | None" = None,
    head: Heads = None,
    *,
    kind: str | None = None,
    tower: str | None = None,
    module: str | None = None,
    part: int | None = None,
    picture: "Image | str | Path | None" = None,
    run: tuple[Any, ...] | None = None,
    words: bool = True,
    **options: Any,
) -> Request:
    """What the options of `export` ask for, looked up in the trace.

    Raises:
        ValueError: for a view, layer, head or token that is not there.
    """
    from models.trace import where_of
    from models.where import matching

    one_of("view", view, tuple(FORM))
    where = where_of(layer, kind, tower, module, part)
    if not t.sites:
        raise ValueError("expected a trace with attention, received one without")
    every = where.layer is None and view in EVERY
    if every:
        site, heads = t.sites[0], (0,)
    elif where.layer is None and view in WHOLE:
        site = t.sites[matching([site.where for site in t.sites], where)[0]]
        heads = heads_of(head, site.heads)
    elif where.layer is None:
        layers = sorted({site.layer for site in t.sites})
        raise ValueError(f"layer: expected one of {layers} for {view!r}, received None")
    else:
        site = t.site(where)
        heads = heads_of(head, site.heads)
    chosen = _selection(view, options)
    entry = entry_of(t, picture, run, over_picture=view in ("image", "features"))
    return Request(entry, site, heads, every, chosen, words)


def _selection(view: str, asked: Mapping[str, Any]) -> Selection:
    """The options of a view.

    Raises:
        ValueError: for one that is not known, has no effect on the view, or has no such value.
    """
    for name, value in asked.items():
        one_of("option", name, (*OF_FILES,))
        if words := OF_FILES[name].kind.words:
            scales = [word for word in words if word != "layer" or view == "image"]
            one_of(name, value, scales if name == "scale" else words)
        if OF_FILES[name].kind is SPAN and value is not None and not _is_span(value):
            raise ValueError(f"{name}: expected a range such as range(2, 5), received {value!r}")
    chosen = Selection(**asked)
    idle = {*OF_ANSWERS} - {*FORM[view].options}
    known = replace(acting(chosen, view), **{name: getattr(Selection, name) for name in idle})
    for name in asked:
        if getattr(known, name) != getattr(chosen, name):
            raise ValueError(f"{name}: without effect on {view!r}; leave it out")
    return chosen


def _is_span(value: Any) -> bool:
    return isinstance(value, range) and value.step == 1 and 0 <= value.start < value.stop


def render(request: Request, view: str, suffix: str) -> bytes:
    """The contents of a file.

    Raises:
        ValueError: for a view or suffix that is not known, and for more weights than fit one file.
    """
    one_of("view", view, tuple(FORM))
    one_of("path: its suffix", suffix, FORMATS)
    request = replace(request, selection=acting(request.selection, view))
    if suffix == ".html" and request.entry.opened is None:
        VIEWS[view].answer(request)  # raises where a page would show nothing
    if suffix in OTHERS:
        return OTHERS[suffix](request, view)
    pages = [page_of(request, view)]
    for each in request.beside:
        pages.append(page_of(replace(each, selection=acting(each.selection, view)), view))
    from viz import paper

    return paper.file(pages, suffix)


def page_of(request: Request, view: str) -> "tuple[Draw, Caption]":
    """What draws the figure of a view, and its caption."""
    folder = VIEWS[view]
    answer = folder.answer(request)
    about = caption(request, answer, grouped=folder.form.grouped)
    return partial(folder.figure, answer), about


def acting(selection: Selection, view: str) -> Selection:
    """The same without the options that have no effect on a view."""
    idle = OF_FILES.keys() - {*FORM[view].options, *PLACE}
    return replace(selection, **{name: getattr(Selection, name) for name in idle})
