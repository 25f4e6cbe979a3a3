"""The figures: a scene for each form of a view.

A new form is a function here and a line in `VIEWS`.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from viz.drawing.scales import Scale, score_scale, weight_scale
from viz.drawing.scene import Scene
from viz.export.forms import FORMS
from viz.export.request import (
    Request,
    caption,
    drawn_of,
    labels_of,
    name_of,
    rows_and_columns,
    site_name,
    strongest_of,
    top_of,
    weights_of,
)
from viz.export.sinks import CLASS, hidden_of, hidden_sentence, source_of

if TYPE_CHECKING:
    from analysis.overview import RowSource

THUMB = 60  # cells along a side of a thumbnail


def _matrix(request: Request) -> Scene:
    from viz.drawing.matrix import matrix

    maps = [(name_of(head), drawn_of(request, head, "matrix")) for head in request.heads]
    query, key = labels_of(request)
    description = (
        "Rows are queries (the token that attends), columns are keys (the token attended to)."
    )
    top = request.selection.top
    marks = [strongest_of(weights_of(request, head), top) for head in request.heads] if top else ()
    scale = _scale(request, maps)
    rows, columns = rows_and_columns(request)
    hidden = hidden_of(request, rows)
    description += f" {hidden_sentence(request, hidden)}" if hidden else ""
    description += f" The {top} strongest keys of each row are outlined." if top else ""
    return matrix(
        maps,
        query,
        key,
        caption(request, description),
        scale=scale,
        marks=marks,
        hidden=[key - columns.start for key in hidden.keys if key in columns] if hidden else (),
        shares=hidden.shares if hidden else (),
    )


def _scale(request: Request, maps: list[tuple[str, np.ndarray]]) -> Scale:
    """The colours of a matrix."""
    if request.selection.values == "scores":
        return score_scale(np.concatenate([values.ravel() for _, values in maps]))
    if request.selection.scale == "log":
        return Scale("log", 0.0, 1.0, "attention weight, logarithmic from 10⁻⁶ to 1")
    return weight_scale(top_of(request, maps))


def _lines(request: Request) -> Scene:
    from viz.drawing.lines import lines

    maps = [
        (name_of(head), np.nan_to_num(drawn_of(request, head, "lines"))) for head in request.heads
    ]
    token, inward = request.selection.token, request.selection.inward
    start = rows_and_columns(request)[int(inward)].start
    if token is not None:
        if not 0 <= token - start < maps[0][1].shape[int(inward)]:
            raise ValueError("token: expected one of the rows or columns that are shown")
        maps = [(name, _alone(weights, token - start, inward)) for name, weights in maps]
    numbers = [head if isinstance(head, int) else None for head in request.heads]
    query, key = labels_of(request)
    description = (
        "Each line is one weight, from a token on the left to a token it attends to; opacity is"
        " the square root of the weight, and weights below a hundredth of a full line are left out."
    )
    if token is not None:
        label = (key if inward else query)[token - start]
        description += f" Only the lines of “{label}” ({token}) are drawn."
    if top := request.selection.top:
        description += f" Of each row the {top} strongest keys are drawn."
    hidden = hidden_of(request, rows_and_columns(request)[0])
    description += f" {hidden_sentence(request, hidden)}" if hidden else ""
    drawn = [(name, weights, head) for (name, weights), head in zip(maps, numbers, strict=True)]
    return lines(drawn, query, key, caption(request, description), top=top_of(request, maps))


def _alone(weights: np.ndarray, token: int, inward: bool) -> np.ndarray:
    """The weights of one query, or of one key; zero elsewhere."""
    kept = np.zeros_like(weights)
    place = (slice(None), token) if inward else (token, slice(None))
    kept[place] = weights[place]
    return kept


def _atlas(request: Request) -> Scene:
    from analysis.overview import thumbnails
    from viz.drawing.atlas import atlas

    rows = [
        (
            site_name(site, request.sites),
            thumbnails(request.shown, site, size=THUMB).numpy(force=True),
        )
        for site in request.sites
    ]
    description = (
        "One thumbnail for each head: rows are queries, columns are keys; large ones are pooled."
    )
    return atlas(
        rows, caption(request, description), top=None if request.selection.scale == "own" else 1.0
    )


def _image(request: Request) -> Scene:
    from analysis.overview import column_of, rows_of
    from analysis.patches import grid_of
    from analysis.view import View
    from viz.drawing.overlay import Veil, nearly_uniform, overlay

    trace, site = request.shown, request.site
    if isinstance(trace, View):
        raise ValueError("view: expected the trace of a picture for 'image', received another")
    (rows, cols), prefix = grid_of(trace, site)
    count = prefix + rows * cols
    middle = rows // 2 * cols + cols // 2
    chosen, inward = request.selection, request.selection.inward
    token = chosen.token if chosen.token is not None else (0 if prefix else middle)
    if not 0 <= token < count:
        raise ValueError(f"token: expected 0 to {count - 1}, received {token}")
    source, _ = source_of(request)
    one = range(token, token + 1)
    hidden = hidden_of(request, range(site.queries) if inward else one)
    maps = []
    for head in request.heads:
        if inward:
            weights = column_of(source, site, head, token)
        else:
            weights = rows_of(source, site, head, one)[0]
        patches = weights[prefix:count].numpy(force=True).reshape(rows, cols)
        maps.append((name_of(head), patches))
    place = divmod(token - prefix, cols) if token >= prefix else None
    label = trace.labels[token]
    name = "the class token" if label in CLASS else label
    name = name if place is None else f"the patch in row {place[0]}, column {place[1]}"
    verb = "Who attends to" if inward else "Where attention goes from"
    description = (
        f"{verb} {name}: the weight of each patch, over the picture. Other tokens are not drawn."
    )
    description += "" if chosen.paint == "mask" else " Brighter is more weight."
    crosses = []
    if hidden is not None:
        of = "a row on average" if inward else "this row"
        description += f" {hidden_sentence(request, hidden, of)}"
        crosses = [divmod(key - prefix, cols) for key in hidden.keys if key >= prefix]
    tops = [1.0] * len(maps)
    if chosen.scale == "own":
        tops = [float(weights.max()) or 1.0 for _, weights in maps]
    elif chosen.scale != "fixed":
        tops = [_shared(source, request, token, range(prefix, count)) or 1.0] * len(maps)
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
    colours: dict[str, Any] = {"tops": tops, "scale": chosen.scale, "veil": veil, "masks": masks}
    return overlay(maps, request.picture, place, about, crosses=crosses, **colours)


def _mask(weights: np.ndarray) -> np.ndarray:
    """The fewest patches that hold 60 % of the weight on patches."""
    import torch

    from analysis.vision import mass_mask

    flat = torch.from_numpy(np.ascontiguousarray(weights, np.float32)).flatten()
    return mass_mask(flat).numpy().reshape(weights.shape)


def _shared(source: "RowSource", request: Request, token: int, patches: range) -> float:
    """The largest weight of the token on a patch in any head of the layer; inwards, of a patch."""
    from analysis.overview import column_of, rows_of

    if request.selection.inward:
        found = column_of(source, request.site, "max", token)
    else:
        found = rows_of(source, request.site, "max", range(token, token + 1))[0]
    return float(found[patches.start : patches.stop].max())


def _panels(form: str) -> Callable[[Request], Scene]:
    """The figure of a form whose parts stand below each other."""

    def drawn(request: Request) -> Scene:
        from viz.drawing.panels import panels

        content = FORMS[form](request)
        how = {"layers": content.layers, "grouped": content.grouped}
        about = caption(request, content.description, doubt=content.doubt, **how)
        return panels(content.panels, about)

    return drawn


VIEWS: dict[str, Callable[[Request], Scene]] = {
    "matrix": _matrix,
    "lines": _lines,
    "atlas": _atlas,
    "image": _image,
    **{form: _panels(form) for form in FORMS},
}
