"""The figures: a scene for each form of a view.

A new form is a function here and a line in `VIEWS`.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from viz.drawing.scene import Scene
from viz.export.request import Request, caption, labels_of, name_of, site_name, top_of, weights_of

if TYPE_CHECKING:
    pass

THUMB = 60  # cells along a side of a thumbnail


def _matrix(request: Request) -> Scene:
    from viz.drawing.matrix import matrix

    maps = [(name_of(head), weights_of(request, head)) for head in request.heads]
    query, key = labels_of(request)
    says = "Rows are queries (the token that attends), columns are keys (the token attended to)."
    return matrix(maps, query, key, caption(request, says), top=top_of(request, maps))


def _lines(request: Request) -> Scene:
    from viz.drawing.lines import lines

    maps = [(name_of(head), weights_of(request, head)) for head in request.heads]
    if request.token is not None:
        maps = [(name, _alone(weights, request.token, request.inward)) for name, weights in maps]
    numbers = [head if isinstance(head, int) else None for head in request.heads]
    query, key = labels_of(request)
    says = (
        "Each line is one weight, from a token on the left to a token it attends to; opacity is"
        " the square root of the weight, and weights below a hundredth of a full line are left out."
    )
    if request.token is not None:
        label = (key if request.inward else query)[request.token]
        says += f" Only the lines of “{label}” ({request.token}) are drawn."
    drawn = [(name, weights, head) for (name, weights), head in zip(maps, numbers, strict=True)]
    return lines(drawn, query, key, caption(request, says), top=top_of(request, maps))


def _alone(weights: np.ndarray, token: int, inward: bool) -> np.ndarray:
    """The weights of one query, or of one key; zero elsewhere."""
    kept = np.zeros_like(weights)
    place = (slice(None), token) if inward else (token, slice(None))
    kept[place] = weights[place]
    return kept


def _atlas(request: Request) -> Scene:
    from analysis.overview import thumbnails
    from viz.drawing.atlas import atlas

    several = len({(site.kind, site.tower) for site in request.sites}) > 1
    rows = [
        (site_name(site, several), thumbnails(request.shown, site, size=THUMB).numpy(force=True))
        for site in request.sites
    ]
    says = "One thumbnail for each head: rows are queries, columns are keys; large ones are pooled."
    return atlas(rows, caption(request, says), top=None if request.scale == "own" else 1.0)


def _image(request: Request) -> Scene:
    from analysis.overview import column_of, rows_of
    from analysis.patches import grid_of
    from analysis.view import View
    from viz.drawing.overlay import overlay

    trace, site = request.shown, request.site
    if isinstance(trace, View):
        raise ValueError("view: expected the trace of a picture for 'image', received another")
    (rows, cols), prefix = grid_of(trace, site)
    count = prefix + rows * cols
    middle = rows // 2 * cols + cols // 2
    token = request.token if request.token is not None else (0 if prefix else middle)
    if not 0 <= token < count:
        raise ValueError(f"token: expected 0 to {count - 1}, received {token}")
    maps = []
    for head in request.heads:
        if request.inward:
            weights = column_of(trace, site, head, token)
        else:
            weights = rows_of(trace, site, head, range(token, token + 1))[0]
        patches = weights[prefix:count].numpy(force=True).reshape(rows, cols)
        maps.append((name_of(head), patches))
    place = divmod(token - prefix, cols) if token >= prefix else None
    name = (
        trace.labels[token] if place is None else f"the patch in row {place[0]}, column {place[1]}"
    )
    verb = "Who attends to" if request.inward else "Where attention goes from"
    says = f"{verb} {name}: the weight of each patch, over the picture. Other tokens are not drawn."
    top = _shared(request, prefix) if request.scale == "layer" else top_of(request, maps)
    return overlay(maps, request.picture, place, caption(request, says), top=top or 1.0)


def _shared(request: Request, prefix: int) -> float:
    """The largest weight on a patch in any head of the layer; inwards, of any patch."""
    from analysis.overview import pooled

    count = request.site.queries
    tokens, patches = range(count), range(prefix, count)
    rows, keys = (patches, tokens) if request.inward else (tokens, patches)
    return float(pooled(request.shown, request.site, "max", rows, keys, size=1))


VIEWS: dict[str, Callable[[Request], Scene]] = {
    "matrix": _matrix,
    "lines": _lines,
    "atlas": _atlas,
    "image": _image,
}
