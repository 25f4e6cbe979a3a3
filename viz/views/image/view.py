"""The weights of one token over the picture."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from viz.api.endpoint import path_of
from viz.api.text import DIFFERENCE
from viz.colours import Scale, change_scale, is_nearly_uniform, layer_of, strength_of
from viz.pack import factor_for
from viz.selection import PLACE, Form
from viz.views.answer import weight_tables
from viz.views.over import WHOLE, OverPictures, Sheet, Sides, figure
from viz.views.request import Request, name_of
from viz.views.sinks import CLASS, hidden_of, hidden_sentence, source_of

if TYPE_CHECKING:
    from viz.api.entries import TraceEntry

__all__ = ["VIEW", "answer", "asks", "figure"]
VIEW = Form(
    "image",
    "Picture",
    "The weights of one token over the picture",
    place=15,
    of_weights=True,
    options=(*PLACE, "values", "sinks", "outliers"),
    texts=False,
    pictured=True,
)
WORDS = {
    "fixed": "",
    "own": ", up to the largest on a patch here",
    "layer": ", up to the largest on a patch in any head",
    "percentile": ", up to the 99th percentile beside a sink",
}


def answer(request: Request) -> OverPictures:
    """The weights, or what edits changed in them."""
    from analysis.overview import column_of, rows_of

    trace, site, chosen = request.view, request.site, request.selection
    (rows, cols), prefix, token = _placed(request)
    count = prefix + rows * cols
    if chosen.values == "scores":
        raise ValueError("values: expected weights or difference for 'image', received scores")
    is_change, (source, _) = chosen.values == DIFFERENCE, source_of(request)
    asked = range(site.queries) if chosen.inward else range(token, token + 1)
    hidden = hidden_of(request, asked)

    def over(head: Any) -> np.ndarray:
        if chosen.inward:
            one = column_of(source, site, head, token)
        else:
            one = rows_of(source, site, head, asked)[0]
        return one[prefix:count].numpy(force=True).reshape(rows, cols)

    maps = [(name_of(head), over(head)) for head in request.heads]
    place = divmod(token - prefix, cols) if token >= prefix else None
    label = "the class token" if trace.labels[token] in CLASS else trace.labels[token]
    name = label if place is None else f"the patch in row {place[0]}, column {place[1]}"
    verb = "who attends to" if chosen.inward else "the attention of"
    crosses = []
    if is_change:
        most = max(float(np.abs(changes).max()) for _, changes in maps) or 1.0
        scales = [change_scale(most, "dark")] * len(maps)
        description = (
            f"What the edits changed in {verb} {name}: the change of each patch, over the picture."
        )
    else:
        verb = "Who attends to" if chosen.inward else "Where attention goes from"
        description = (
            f"{verb} {name}: the weight of each patch, over the picture. Other tokens are not"
            " drawn. Brighter is more weight."
        )
        if hidden is not None:
            of = "a row on average" if chosen.inward else "this row"
            description += f" {hidden_sentence(request, hidden, of)}"
            crosses = [divmod(key - prefix, cols) for key in hidden.keys if key >= prefix]
        if even := [each for each, patches in maps if is_nearly_uniform(patches)]:
            description += f" Nearly uniform, so faint: {', '.join(even)}."
        scales = _scales(request, maps)

    def cell(at: tuple[int, int], inner: float = 0) -> Sides:
        row, col = at
        sides = col + inner, row + inner, col + 1 - inner, row + 1 - inner
        return sides[0] / cols, sides[1] / rows, sides[2] / cols, sides[3] / rows

    frames = [cell(place)] if place else []
    sheets = [] if request.picture is None else [Sheet("the picture", request.picture, (), frames)]
    for (head, values), scale in zip(maps, scales, strict=True):
        layer = layer_of(values, scale, 1.0 if is_change else strength_of(values))
        crossed = [cell(at, 0.2) for at in crosses]
        about = (request.picture, [(layer, WHOLE)], frames, crossed, is_change)
        sheets.append(Sheet(head, *about))
    by_head = Scale("root", 0, 1, "share of each head’s largest weight, square root", "dark")
    return OverPictures(
        description=description,
        tables=weight_tables(request),
        groups=[("", sheets, scales[0] if len({*scales}) == 1 else by_head)],
    )


def _placed(request: Request) -> tuple[tuple[int, int], int, int]:
    """The grid, the tokens before it, and the token whose weights are drawn.

    That is the class token or the middle patch where none is chosen.

    Raises:
        ValueError: for a trace that is no picture's, and for a token that is not there.
    """
    from analysis.patches import grid_of
    from analysis.view import View

    trace: Any = request.view
    if isinstance(trace, View):
        raise ValueError("view: expected the trace of a picture for 'image', received another")
    (rows, cols), prefix = grid_of(trace, request.site)
    count, chosen = prefix + rows * cols, request.selection.token
    token = (0 if prefix else rows // 2 * cols + cols // 2) if chosen is None else chosen
    if not 0 <= token < count:
        raise ValueError(f"token: expected 0 to {count - 1}, received {token}")
    return (rows, cols), prefix, token


def _scales(request: Request, maps: Sequence[tuple[str, np.ndarray]]) -> list[Scale]:
    """The colours of each head; of all heads the same unless each has its own."""
    name = request.selection.scale
    tops = [1.0] * len(maps)
    if name == "own":
        tops = [float(weights.max()) or 1.0 for _, weights in maps]
    elif name != "fixed":
        second = [] if request.second is None else [request.second.request]
        ends = [_shared(each) for each in (request, *second)]
        tops = [max(top for top, _ in ends) or 1.0] * len(maps)
        name = "percentile" if any(beside for _, beside in ends) else "layer"
    words = f"attention weight{WORDS[name]}, square-root scale"
    return [Scale("root", 0.0, top, words, "dark") for top in tops]


def _shared(request: Request) -> tuple[float, bool]:
    """The weight of the last colour of the heads' shared scale, and whether a sink shortens it."""
    from analysis.overview import column_of, rows_of
    from analysis.patches import shared_top

    source, _ = source_of(request)
    trace: Any = request.view
    site = request.site
    grid, prefix, token = _placed(request)
    patches = slice(prefix, prefix + grid[0] * grid[1])
    if request.selection.inward:
        return float(column_of(source, site, "max", token)[patches].max()), False
    peak = rows_of(source, site, "max", range(token, token + 1))[0][patches]
    return shared_top(trace, site, peak, factor_for(site.heads, grid, prefix))


def asks(request: Request, entry: "TraceEntry") -> list[str]:
    """All weights of the layer, and what beside them the view shows."""
    site = request.index
    return [
        path_of("overview"),
        path_of("photo", number=0),
        path_of("layer", site=site),
        path_of("sinks", site=site, outliers=False),
        path_of("sinks", site=site, outliers=True),
    ]
