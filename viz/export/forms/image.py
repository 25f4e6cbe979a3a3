"""The weights of one token over the picture."""

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from viz.api import image
from viz.api.endpoint import AXIS, IMAGE, SITE, Endpoint, options, path_of
from viz.api.requests import one_of
from viz.api.text import DIFFERENCE
from viz.drawing.scene import Scene
from viz.export.paper import Paper
from viz.export.request import Request, caption, difference_of, name_of
from viz.export.sinks import CLASS, hidden_of, hidden_sentence, source_of
from viz.image import factor_for

if TYPE_CHECKING:
    from viz.api.entries import TraceEntry


def _image(request: Request) -> Scene:
    from analysis.overview import column_of, rows_of
    from analysis.patches import grid_of
    from analysis.view import View
    from viz.drawing.overlay import TO_PERCENTILE, Veil, nearly_uniform, overlay

    trace, site = request.view, request.site
    if isinstance(trace, View):
        raise ValueError("view: expected the trace of a picture for 'image', received another")
    (rows, cols), prefix = grid_of(trace, site)
    count = prefix + rows * cols
    chosen, inward = request.selection, request.selection.inward
    token = _token(request)
    if chosen.values == "scores":
        raise ValueError("values: expected weights or difference for 'image', received scores")
    one = range(token, token + 1)
    hidden = None
    if chosen.values == DIFFERENCE:
        changed = difference_of(request)
        column, row = changed.column, changed.rows
    else:
        source, _ = source_of(request)
        column, row = partial(column_of, source), partial(rows_of, source)
        hidden = hidden_of(request, range(site.queries) if inward else one)
    maps = []
    for head in request.heads:
        weights = column(site, head, token) if inward else row(site, head, one)[0]
        patches = weights[prefix:count].numpy(force=True).reshape(rows, cols)
        maps.append((name_of(head), patches))
    place = divmod(token - prefix, cols) if token >= prefix else None
    label = trace.labels[token]
    name = "the class token" if label in CLASS else label
    name = name if place is None else f"the patch in row {place[0]}, column {place[1]}"
    verb = "Who attends to" if inward else "Where attention goes from"
    if chosen.values == DIFFERENCE:
        verb = "What the edits changed in " + ("who attends to" if inward else "the attention of")
        most = max(float(np.abs(changes).max()) for _, changes in maps) or 1.0
        about = caption(request, f"{verb} {name}: the change of each patch, over the picture.")
        veil = Veil("grey", "patches", chosen.opacity)
        tops = [most] * len(maps)
        return overlay(maps, request.picture, place, about, tops=tops, scale="signed", veil=veil)
    description = (
        f"{verb} {name}: the weight of each patch, over the picture. Other tokens are not drawn."
    )
    description += "" if chosen.paint == "mask" else " Brighter is more weight."
    crosses = []
    if hidden is not None:
        of = "a row on average" if inward else "this row"
        description += f" {hidden_sentence(request, hidden, of)}"
        crosses = [divmod(key - prefix, cols) for key in hidden.keys if key >= prefix]
    tops, beside = [1.0] * len(maps), False
    if chosen.scale == "own":
        tops = [float(weights.max()) or 1.0 for _, weights in maps]
    elif chosen.scale != "fixed":
        both = [request, *([request.second.request] if request.second is not None else [])]
        ends = [_shared(each) for each in both]
        tops = [max(top for top, _ in ends) or 1.0] * len(maps)
        beside = any(beside for _, beside in ends)
    veil = Veil(chosen.ground, chosen.paint, chosen.opacity)
    masks = [_mask(weights) for _, weights in maps] if chosen.paint == "mask" else ()
    if masks:
        description += (
            " All patches are darkened but the fewest that hold 60 % of the weight on patches."
        )
    even = [name for name, weights in maps if nearly_uniform(weights)]
    if even and not masks:
        description += f" Nearly uniform, so faint: {', '.join(even)}."
    about = caption(request, description)
    scale = TO_PERCENTILE if beside else chosen.scale
    colours: dict[str, Any] = {"tops": tops, "scale": scale, "veil": veil, "masks": masks}
    return overlay(maps, request.picture, place, about, crosses=crosses, **colours)


def _token(request: Request) -> int:
    """The token whose weights are drawn: the class token or the middle patch where none is chosen.

    Raises:
        ValueError: for one that is not there.
    """
    from analysis.patches import grid_of

    trace: Any = request.view
    (rows, cols), prefix = grid_of(trace, request.site)
    count, chosen = prefix + rows * cols, request.selection.token
    token = (0 if prefix else rows // 2 * cols + cols // 2) if chosen is None else chosen
    if not 0 <= token < count:
        raise ValueError(f"token: expected 0 to {count - 1}, received {token}")
    return token


def _mask(weights: np.ndarray) -> np.ndarray:
    """The fewest patches that hold 60 % of the weight on patches."""
    import torch

    from analysis.vision import mass_mask

    flat = torch.from_numpy(np.ascontiguousarray(weights, np.float32)).flatten()
    return mass_mask(flat).numpy().reshape(weights.shape)


def _shared(request: Request) -> tuple[float, bool]:
    """The weight of the last colour of the heads' shared scale, and whether a sink shortens it."""
    from analysis.overview import column_of, rows_of
    from analysis.patches import grid_of, shared_top

    source, _ = source_of(request)
    trace: Any = request.view
    site = request.site
    grid, prefix = grid_of(trace, site)
    count = grid[0] * grid[1]
    token = _token(request)
    if request.selection.inward:
        return float(column_of(source, site, "max", token)[prefix : prefix + count].max()), False
    peak = rows_of(source, site, "max", range(token, token + 1))[0][prefix : prefix + count]
    if request.selection.scale != "layer":
        return float(peak.max()), False
    return shared_top(trace, site, peak, factor_for(site.heads, grid, prefix))


def _asks(request: Request, entry: "TraceEntry") -> list[str]:
    site = request.index
    return [
        path_of("overview"),
        path_of("picture"),
        path_of("layer", site=site),
        path_of("sinks", site=site, outliers=False),
        path_of("sinks", site=site, outliers=True),
        path_of("provenance", site=site),
    ]


PAPER = Paper(
    draws=_image,
    asks=_asks,
    endpoints=(
        Endpoint("overview", IMAGE, image.overview),
        Endpoint("picture", IMAGE, image.picture),
        Endpoint("layer", IMAGE, image.layer_of, SITE),
        Endpoint(
            "heads",
            IMAGE,
            image.heads_of,
            {**SITE, **AXIS},
            {"values": one_of("weights", DIFFERENCE)},
        ),
        Endpoint("sinks", IMAGE, image.sinks_of, SITE, options("outliers"), image.sinks_read),
    ),
)
