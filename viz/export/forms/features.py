"""The last hidden states of the patches as colours, and how like the chosen one each is."""

from typing import TYPE_CHECKING

import numpy as np

from analysis.percent import percent
from viz.api import features
from viz.api.endpoint import IMAGE, WHOLE, Endpoint, options, path_of
from viz.drawing.overlay import Veil
from viz.drawing.panels import Pictured
from viz.export.entries import image_entry
from viz.export.paper import Content, Paper, Table, digits, given
from viz.export.request import Request

if TYPE_CHECKING:
    from viz.api.entries import TraceEntry

COLOURED = 230  # opacity of a patch's colour, of 255
DARK = 200  # of the black over those that have none
MOST = 300  # patches whose likenesses a page holds
DOUBT = (
    "Equal colours mean similar features, not one object; which side of which threshold is the"
    " object is for the reader to say."
)


def _features(request: Request) -> Content:
    trace, chosen = request.view, request.selection
    if request.picture is None:
        raise ValueError("view: expected the trace of a picture for 'features', received another")
    entry = image_entry(request)
    (rows, cols), prefix = entry.trace.grid or (1, 1), entry.trace.prefix
    asked = {"foreground": chosen.foreground, "deviations": chosen.deviations}
    answer = given(features.components(entry, "", **asked))
    colours = np.array(answer["colours"], np.uint8).reshape(rows, cols, 3)
    kept = np.array(answer["foreground"], bool).reshape(rows, cols, 1)
    layer = np.concatenate([colours, np.where(kept, COLOURED, DARK)], -1).astype(np.uint8)
    veil = Veil(chosen.ground, chosen.paint, chosen.opacity)
    shares = ", ".join(percent(share) for share in answer["explained"])
    side = (
        "" if chosen.foreground == "all" else f" {chosen.foreground} {digits(answer['threshold'])}"
    )
    title = f"{answer['kept']} of {rows * cols} patches{side}; {shares} of their variance"
    token = max(prefix, chosen.token or prefix)
    likeness = np.array(given(features.similar(entry, "", token))["values"])
    name = trace.query_labels(request.site)[token]
    patches = trace.query_labels(request.site)[prefix:]
    levels = np.array(answer["colours"]).reshape(-1, 3)
    return Content(
        "The last hidden states of the patches: their first three principal components are red,"
        " green and blue. Below, the cosine of each with that of a chosen patch.",
        [
            Pictured(title, np.zeros((rows, cols)), request.picture, veil, layer=layer),
            Pictured(f"Like {name}", likeness.reshape(rows, cols), request.picture, veil, "cosine"),
        ],
        [
            Table(
                "components",
                ("patch", "colour"),
                levels,
                {"patch": patches, "colour": ["red", "green", "blue"]},
            ),
            Table("similarity", ("patch",), likeness, {"patch": patches}, {"of": name}),
        ],
        layers=True,
        doubt=DOUBT,
    )


def _asks(request: Request, entry: "TraceEntry") -> list[str]:
    chosen = request.selection
    asked = {"foreground": chosen.foreground, "deviations": chosen.deviations}
    patches = range(entry.trace.prefix, len(entry.trace.labels))
    alike = [path_of("similar", token=token) for token in patches]
    return [path_of("components", **asked), *alike[:MOST]]


PAPER = Paper(
    shows=_features,
    asks=_asks,
    endpoints=(
        Endpoint("components", IMAGE, features.components, {}, options("foreground", "deviations")),
        Endpoint("similar", IMAGE, features.similar, {"token": WHOLE}),
    ),
)
