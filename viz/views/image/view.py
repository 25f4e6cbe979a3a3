"""The weights of one token over the picture."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from viz.api import image
from viz.api.endpoint import IMAGE, Endpoint, path_of
from viz.api.requests import one_of, word
from viz.api.text import DIFFERENCE
from viz.colours import (
    Scale,
    Veil,
    change_scale,
    is_nearly_uniform,
    overlaid,
    shade_of,
    strength_of,
    veiled,
)
from viz.pack import factor_for
from viz.selection import PLACE, VEIL, Form
from viz.views.answer import Answer
from viz.views.parts.sweeps import states
from viz.views.request import Request, difference_of, name_of, veil_of
from viz.views.sinks import CLASS, hidden_of, hidden_sentence, source_of

if TYPE_CHECKING:
    from viz.api.entries import TraceEntry
    from viz.paper import Page

VIEW = Form(
    "image",
    "Picture",
    "The weights of one token over the picture",
    place=15,
    of_weights=True,
    chooses=(),
    options=(*PLACE, "values", "sinks", "outliers", *VEIL),
    texts=False,
    pictured=True,
)
WORDS = {
    "fixed": "",
    "own": ", up to the largest on a patch here",
    "layer": ", up to the largest on a patch in any head",
    "percentile": ", up to the 99th percentile beside a sink",
    "log": ", up to the largest on a patch in any head",
}


@dataclass(frozen=True, eq=False, kw_only=True)
class Over(Answer):
    """Weights of patches over the picture.

    Attributes:
        maps: name of each head, and its weights "row col" on the grid of patches.
        picture: uint8 "row col 3", what the network read; None draws the patches alone.
        place: row and column of the patch that attends or is attended to; None for another token.
        scales: of the colours of each head.
        crosses: rows and columns of patches whose weights are hidden.
        veil: how the weights are painted.
        masks: of each head, which patches stay bright; () unless a mask is painted.
    """

    maps: Sequence[tuple[str, np.ndarray]]
    picture: np.ndarray | None
    place: tuple[int, int] | None
    scales: Sequence[Scale]
    veil: Veil
    crosses: Sequence[tuple[int, int]] = ()
    masks: Sequence[np.ndarray] = ()


def answer(request: Request) -> Over:
    """The weights, or what edits changed in them."""
    from analysis.overview import column_of, rows_of
    from analysis.patches import grid_of
    from analysis.view import View

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
    common: dict[str, Any] = {"maps": maps, "picture": request.picture, "place": place}
    if chosen.values == DIFFERENCE:
        verb = "What the edits changed in " + ("who attends to" if inward else "the attention of")
        most = max(float(np.abs(changes).max()) for _, changes in maps) or 1.0
        return Over(
            description=f"{verb} {name}: the change of each patch, over the picture.",
            scales=[change_scale(most, "dark")] * len(maps),
            veil=Veil("grey", "patches", chosen.opacity),
            **common,
        )
    description = (
        f"{verb} {name}: the weight of each patch, over the picture. Other tokens are not drawn."
    )
    description += "" if chosen.paint == "mask" else " Brighter is more weight."
    crosses = []
    if hidden is not None:
        of = "a row on average" if inward else "this row"
        description += f" {hidden_sentence(request, hidden, of)}"
        crosses = [divmod(key - prefix, cols) for key in hidden.keys if key >= prefix]
    scales = _scales(request, maps)
    masks = [_mask(weights) for _, weights in maps] if chosen.paint == "mask" else ()
    if masks:
        description += (
            " All patches are darkened but the fewest that hold 60 % of the weight on patches."
        )
    even = [name for name, weights in maps if is_nearly_uniform(weights)]
    if even and not masks:
        description += f" Nearly uniform, so faint: {', '.join(even)}."
    return Over(
        description=description,
        scales=scales,
        veil=veil_of(request),
        crosses=crosses,
        masks=masks,
        **common,
    )


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
        name = "percentile" if any(beside for _, beside in ends) else name
    kind = "decades" if request.selection.scale == "log" else "root"
    how = "logarithmic" if name == "log" else "square-root scale"
    words = f"attention weight{WORDS[name]}, {how}"
    return [Scale(kind, 0.0, top, words, "dark") for top in tops]


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


def figure(answer: Over, page: "Page") -> None:
    """A picture for each head; the picture itself stands before them."""
    from viz.parts import Picture, pictures

    rows, cols = answer.maps[0][1].shape
    frames, crosses = (
        [(col / cols, row / rows, (col + 1) / cols, (row + 1) / rows) for row, col in places]
        for places in ([answer.place] if answer.place else [], answer.crosses)
    )
    inner = np.array((0.2, 0.2, -0.2, -0.2)) / (cols, rows, cols, rows)
    crosses = [tuple(area + inner) for area in crosses]
    items = [] if answer.picture is None else [Picture("the picture", answer.picture, frames)]
    for i, ((name, values), scale) in enumerate(zip(answer.maps, answer.scales, strict=True)):
        if answer.masks:
            pixels = veiled(shade_of(answer.masks[i]), answer.picture, answer.veil)
        else:
            strength = 1.0 if scale.kind == "signed" else strength_of(values)
            pixels = overlaid(values, scale, answer.picture, answer.veil, strength)
        items.append(Picture(name, pixels, frames, crosses))
    pictures(page, items)
    if not answer.masks:
        first, *others = answer.scales
        by_head = Scale("root", 0, 1, "share of each head’s largest weight, square root", "dark")
        page.bar(first if {first} >= {*others} else by_head)


def asks(request: Request, entry: "TraceEntry") -> list[str]:
    """All weights of the layer, and what beside them the view shows."""
    site = request.index
    return [
        path_of("overview"),
        path_of("picture"),
        path_of("layer", site=site),
        path_of("sinks", site=site, outliers=False),
        path_of("sinks", site=site, outliers=True),
        path_of("provenance", site=site),
    ]


ENDPOINTS = (
    Endpoint("states", IMAGE, states, second=word),
    Endpoint("overview", IMAGE, image.overview),
    Endpoint("picture", IMAGE, image.picture),
    Endpoint("layer", IMAGE, image.layer_of),
    Endpoint("heads", IMAGE, image.heads_of, values=one_of("weights", DIFFERENCE)),
    Endpoint("sinks", IMAGE, image.sinks_of, image.sinks_read),
)
