"""All layers over a picture: the numbers of a method for each patch, for the form of all layers."""

from typing import TYPE_CHECKING, Any

import numpy as np

from analysis.methods import BY_NAME
from viz.api import model
from viz.api.endpoint import path_of
from viz.drawing.overlay import Veil
from viz.drawing.panels import Pictured
from viz.export.entries import image_entry
from viz.export.paper import Content, Table, digits, given
from viz.export.request import Request
from viz.selection import Chosen

if TYPE_CHECKING:
    from viz.api.entries import TraceEntry

KEYS = 24  # of a method that is computed key by key, in one request, as in the view


def over_picture(request: Request, chosen: Chosen, title: str) -> Content:
    """The numbers of a method over the picture.

    Args:
        request: of the trace of a picture.
        chosen: the method.
        title: its name, with how it fuses heads.
    """
    from analysis.patches import grid_of

    entry, info, output = image_entry(request), BY_NAME[chosen.name], request.selection.output
    asked = _asked(request, entry, chosen)
    if info.kind == "relevance":
        answer = given(model.relevance(entry, "", 0, chosen.name, output))
        about = f"{title} for the logit of “{answer['name']}”, {digits(answer['value'])}"
    else:
        answer = given(model.row_of(entry, "", **asked))
        token = asked.get("index")
        about = f"{title} from {answer['reads'] if token is None else entry.trace.labels[token]}"
    (rows, cols), prefix = grid_of(entry.trace, entry.trace.sites[0])
    values = np.array(answer["values"])
    selection = request.selection
    veil = Veil(selection.ground, selection.paint, selection.opacity)
    patches = values[prefix : prefix + rows * cols].reshape(rows, cols)
    words = "relevance" if info.kind == "relevance" else "value"
    labels = {"token": entry.trace.labels}
    return Content(
        f"{title}. {info.shows} Tokens without a place on the picture are not drawn.",
        [Pictured(about, patches, request.picture, veil, words)],
        [Table(chosen.name, ("token",), values, labels, {"of": about})],
    )


def asks_over(request: Request, entry: "TraceEntry", chosen: Chosen) -> list[str]:
    """What a method over a picture asks for."""
    info = BY_NAME[chosen.name]
    if info.kind == "relevance":
        output = request.selection.output
        return [path_of("relevance", site=0, method=chosen.name, output=output)]
    asked = _asked(request, entry, chosen)
    if info.kind == "map":
        return [path_of("model_row", **asked)]
    keys = entry.trace.sites[0].keys
    spans = [range(start, min(keys, start + KEYS)) for start in range(0, keys, KEYS)]
    return [path_of("model_row", **asked, columns=span) for span in spans]


def _asked(request: Request, entry: "TraceEntry", chosen: Chosen) -> dict[str, Any]:
    """What the row of a method is asked with."""
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
