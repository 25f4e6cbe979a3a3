"""Attention over a picture where rows and columns differ: coarser keys, object queries, words.

The view of patches needs layers in which every patch attends to every patch. Other layers that
attend to a grid of the picture are drawn here, one query at a time: SegFormer's cells and the
coarser areas they look at, DETR's object queries with their boxes, the words of a caption. Object
queries that look at each other are drawn as their boxes.
"""

import base64
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import streamlit as st
from headscope_views import view

from models.request import TraceRequest
from viz import theme, vision
from viz.api import tracing
from viz.api.pictures import data_url
from viz.pages import shared
from viz.pages.explore import compute
from viz.pages.explore.names import PAGE
from viz.pages.state import params as link
from viz.pages.state import session
from viz.pages.widgets import charts, controls

if TYPE_CHECKING:
    import numpy as np
    import plotly.graph_objects as go
    from PIL.Image import Image

    from models.model import Model
    from models.pretrained.detection import Detection
    from models.trace import PatchGrid, Site, Trace
    from viz.api.registry import Held

CELL = "cell"  # stands for the cell of a row and column, beside object queries
PARAMS = (
    link.number("over", None, 0, 9999),
    link.number_or("over_head", "mean", 999, ("mean",)),
    link.number_or("over_query", "", 99_999, (CELL,)),
    link.number("over_row", 0, 0, 999),
    link.number("over_column", 0, 0, 999),
    link.number("over_score", 50, 0, 100),
)
KINDS = {"self": "self-attention", "causal": "causal self-attention", "cross": "cross-attention"}
KEY = f"{PAGE}_cells"
LARGEST = 640  # pixels of the longer side of the picture that is sent
MOST_QUERIES = 1024  # in the list
OTHER = (
    "Here a cell, object or token is chosen that looks; who looks at a chosen cell is a column of"
    " the matrix above, because rows and columns have grids of their own."
)
DOUBT = (
    "A large weight says where information may come from, not that the network saw what is there:"
    " cells of a deep layer have taken in their surroundings."
)


@dataclass(frozen=True, eq=False)
class Question:
    """One row of weights.

    Attributes:
        site: the layer.
        head: a head; None for the mean of all.
        query: the position that looks.
    """

    site: "Site"
    head: int | None
    query: int


def show(request: TraceRequest, trace: "Trace", held: "Held[Any]") -> None:
    """The picture under one query's weights, if a layer attends to a grid or to objects of it.

    Args:
        request: of the trace.
        trace: of the pass.
        held: the registry entry of the page's view.
    """
    image, model = tracing.image_of(request), tracing.opened(request.model)
    if image is None:
        return
    boxes = _boxes_of(request)
    sites = {
        index: site
        for index, site in enumerate(trace.sites)
        if _has_grid(trace, site) or _of_objects(trace, site, boxes)
    }
    if not sites:
        return
    st.markdown("##### Over the picture")
    names = _names(sites)
    with st.container(key=f"{PAGE}_over", horizontal=True, vertical_alignment="bottom"):
        first = next((i for i, site in sites.items() if site.kind == "cross"), min(sites))
        number = _select("over", "Layer", names, first, "Layers that look at the picture", 280)
        site = sites[number]
        heads = {"mean": "Mean of heads", **{head: f"Head {head}" for head in range(site.heads)}}
        head = _select("over_head", "Head", heads, "mean", "One head, or the mean of all", 150)
        objects = _objects(trace, site, boxes)
        query = _query(trace, site, objects)
        drawn: list[int] = []
        if objects:
            help = "Boxes whose score is at least this are drawn, in percent"
            least = controls.slider(PAGE, "over_score", "Boxes from %", (0, 100), help, step=5)
            drawn = [at for at, box in objects.items() if 100 * box.score >= least and at != query]
    asked = Question(site, None if head == "mean" else head, query)
    draw = _figure if _has_grid(trace, site) else _among_objects
    figure, title, says = draw(model, image, trace, asked, names[number], objects)
    grid = trace.key_grid(site)
    pixels = image.height, image.width
    shape = pixels if grid is None else (grid.rows, grid.cols)
    weights = _row(trace, asked) if grid is None else None
    for at in (*drawn, *([query] if query in objects else ())):
        name = f"{objects[at].name} {objects[at].score:.0%}"
        if weights is not None:
            name += f": {weights[at]:.3f}"
        vision.frame_box(figure, shape, objects[at].box, name, chosen=at == query)
    query_grid = trace.query_grid(site)
    live = query_grid is not None and query not in objects and held.value.view is trace
    more = " Point at another cell, or use the arrow keys. Brighter = more weight." if live else ""
    st.markdown(shared.plain(says + more))
    with charts.saved(PAGE, "over", title, (DOUBT,)):
        if live and grid is not None and query_grid is not None:
            _live(image, held, number, asked, (query_grid, grid), names[number])
            charts.keep(figure)
        else:
            charts.chart(PAGE, figure, "over", f"{title}. {says}")
    st.caption(f"{OTHER} {DOUBT}")


def _live(
    image: "Image",
    held: "Held[Any]",
    number: int,
    asked: Question,
    grids: "tuple[PatchGrid, PatchGrid]",
    name: str,
) -> None:
    """The weights of the cell under the pointer, fetched as it moves; a click chooses the cell."""
    queries, keys = (
        {"rows": grid.rows, "cols": grid.cols, "prefix": grid.prefix} for grid in grids
    )
    props = {
        "trace": held.id,
        "made": held.serial,
        "session": session.props(PAGE, ())["session"],
        "site": number,
        "head": "mean" if asked.head is None else asked.head,
        "query": queries,
        "key": keys,
        "picture": data_url(image, LARGEST),
        "size": image.size,
        "ramp": base64.b64encode(theme.sequential("dark").tobytes()).decode(),
        "chosen": asked.query,
        "name": name,
    }
    picked = session.callback(partial(_pick, grids[0]))
    view("cells", props, key=KEY, on={"picked": picked, "trace_lost": lambda: None})


def _pick(cells: "PatchGrid") -> None:
    """Called after a click on a cell, or an arrow key."""
    session.fold(PAGE)
    state = st.session_state.get(KEY)
    query = state.get("picked") if isinstance(state, Mapping) else None
    if isinstance(query, int) and 0 <= query - cells.prefix < cells.rows * cells.cols:
        row, column = divmod(query - cells.prefix, cells.cols)
        session.edit(PAGE, {"over_row": row, "over_column": column})


def _objects(trace: "Trace", site: "Site", boxes: "Sequence[Detection]") -> "dict[int, Detection]":
    """The object queries of a site, with their boxes, by their index among the queries."""
    grid = trace.query_grid(site)
    first = 0 if grid is None else grid.prefix + grid.rows * grid.cols
    if not boxes or site.queries - first != len(boxes):
        return {}
    return dict(enumerate(boxes, first))


def _of_objects(trace: "Trace", site: "Site", boxes: "Sequence[Detection]") -> bool:
    """Whether object queries look at object queries, and at nothing else."""
    return site.queries == site.keys and len(_objects(trace, site, boxes)) == site.queries


def _row(trace: "Trace", asked: Question) -> "np.ndarray":
    """The weights of a query, of one head or the mean of all."""
    rows = trace.weights(asked.site, asked.head, rows=[asked.query]).numpy(force=True)
    return rows.mean(axis=tuple(range(rows.ndim - 1)))


def _has_grid(trace: "Trace", site: "Site") -> bool:
    """Whether the keys of a site are patches of one picture."""
    grid = trace.key_grid(site)
    return grid is not None and grid.frames == 1


def _boxes_of(request: TraceRequest) -> "tuple[Detection, ...]":
    """The box of every object query; () and a line where they cannot be told."""
    try:
        return _detected(request)
    except ValueError as error:
        shared.notice(f"No boxes: {error}.")
        return ()


@lru_cache(maxsize=8)
def _detected(request: TraceRequest) -> "tuple[Detection, ...]":
    model, given, _ = tracing.arguments(request)
    if model.door != "transformers":
        return ()
    with shared.forward_pass(model):
        return compute.detections(model, given)


def _select(
    name: str, label: str, titles: Mapping[Any, str], default: Any, help: str, width: int
) -> Any:
    """A list whose setting may be that of another model, which becomes the default."""
    if session.get(PAGE, name) not in titles:
        session.edit(PAGE, {name: default})
    return controls.select(PAGE, name, label, titles, help, width=width)


def _query(trace: "Trace", site: "Site", objects: "Mapping[int, Detection]") -> int:
    """The chosen query: a cell by row and column, an object with its box, or a token."""
    grid = trace.query_grid(site)
    has_cells = grid is not None and grid.frames == 1
    if objects:
        best = sorted(objects, key=lambda at: -objects[at].score)
        first = min(objects)
        titles: dict[int | str, str] = {
            at: f"{objects[at].name} {objects[at].score:.0%} (query {at - first})" for at in best
        }
        help = "The object query that looks, the surest first"
        if has_cells:
            titles[CELL] = "A cell of the picture"
        chosen = _select("over_query", "Object", titles, next(iter(titles)), help, 260)
        if chosen != CELL:
            return chosen
    if grid is not None and has_cells:
        help = "The cell that looks, on its own grid of {rows} × {cols}"
        help = help.format(rows=grid.rows, cols=grid.cols)
        row = controls.slider(PAGE, "over_row", "Row", (0, max(grid.rows - 1, 1)), help)
        column = controls.slider(PAGE, "over_column", "Column", (0, max(grid.cols - 1, 1)), help)
        return grid.prefix + min(row, grid.rows - 1) * grid.cols + min(column, grid.cols - 1)
    labels = trace.query_labels(site)[:MOST_QUERIES]
    titles = {index: f"{index}: {label}" for index, label in enumerate(labels)}
    return _select("over_query", "Query", titles, 0, "The token that looks", 200)


def _figure(
    model: "Model",
    image: "Image",
    trace: "Trace",
    asked: Question,
    name: str,
    objects: "Mapping[int, Detection]",
) -> "tuple[go.Figure, str, str]":
    """The weights over the picture with a frame round the cell that looks; title and sentence."""
    site, grid = asked.site, trace.key_grid(asked.site)
    query_grid = trace.query_grid(site)
    if grid is None:
        raise ValueError(f"layer: layer {site.layer} does not attend to a picture")
    weights = _row(trace, asked)
    cells = weights[grid.prefix : grid.prefix + grid.rows * grid.cols]
    title = _title(model, asked, name)
    figure = vision.overlay(
        cells.reshape(grid.rows, grid.cols),
        image,
        title=title,
        bar="weight",
        signed=False,
        noun="cell",
    )
    if asked.query in objects:
        who = _says(objects, asked.query)
    elif query_grid is not None and asked.query >= query_grid.prefix:
        row, column = divmod(asked.query - query_grid.prefix, query_grid.cols)
        who = f"Cell {row}, {column} of {query_grid.rows} × {query_grid.cols} (framed)"
        box = (
            column / query_grid.cols,
            row / query_grid.rows,
            (column + 1) / query_grid.cols,
            (row + 1) / query_grid.rows,
        )
        vision.frame_box(figure, (grid.rows, grid.cols), box)
    else:
        who = f"“{trace.query_labels(site)[asked.query]}”"
    rest = float(weights.sum() - cells.sum())
    others = f"; {rest:.1%} goes to tokens that are no cells" if rest > 0.0005 else ""
    return figure, title, f"{who} looks at {grid.rows} × {grid.cols} cells{others}."


def _among_objects(
    model: "Model",
    image: "Image",
    trace: "Trace",
    asked: Question,
    name: str,
    objects: "Mapping[int, Detection]",
) -> "tuple[go.Figure, str, str]":
    """The picture for the boxes of object queries that look at each other."""
    title = _title(model, asked, name)
    weights = _row(trace, asked)
    most = int(weights.argmax())
    whom = " itself" if most == asked.query else f" query {most} ({objects[most].name})"
    says = (
        f"{_says(objects, asked.query)} looks at the {len(objects)} object queries, most at{whom}:"
        f" {weights[most]:.3f}. The number beside each box is its weight."
    )
    return vision.plain(image, title=title), title, says


def _says(objects: "Mapping[int, Detection]", query: int) -> str:
    """An object query and its detection."""
    box = objects[query]
    number = query - min(objects)
    return f"Object query {number}, which says {box.name} ({box.score:.1%}, framed),"


def _title(model: "Model", asked: Question, name: str) -> str:
    which = "mean of heads" if asked.head is None else f"head {asked.head}"
    note = "" if model.trained else ", untrained (random weights)"
    return f"{model.name}{note}: {name}, {which}"


def _names(sites: "Mapping[int, Site]") -> dict[int, str]:
    """The sites by tower, layer and kind; by module where that is not enough."""
    names = {
        index: f"{f'{site.tower}, ' if site.tower else ''}layer {site.layer}, {KINDS[site.kind]}"
        for index, site in sites.items()
    }
    twice = {name for name, count in Counter(names.values()).items() if count > 1}
    return {
        index: f"{name} ({sites[index].module})" if name in twice else name
        for index, name in names.items()
    }
