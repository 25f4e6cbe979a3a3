"""The last hidden states of the patches as colours, and how like the chosen one each is."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from analysis.percent import percent
from viz.api import features
from viz.api.endpoint import IMAGE, WHOLE, Endpoint, options, path_of
from viz.colours import Veil, overlaid, scale_of, veiled
from viz.selection import VEIL, Form
from viz.views.answer import Answer, Table, digits, given
from viz.views.entries import image_entry
from viz.views.request import Request, veil_of

if TYPE_CHECKING:
    from viz.api.entries import TraceEntry
    from viz.paper import Page

VIEW = Form(
    "features",
    "Features",
    "The last states of the patches by their principal components, and which are alike",
    place=14,
    options=("token", "foreground", "deviations", *VEIL),
    covers="layers",
    texts=False,
    pictured=True,
)
COLOURED = 230  # opacity of a patch's colour, of 255
DARK = 200  # of the black over those that have none
MOST = 300  # patches whose likenesses a page holds
DOUBT = (
    "Equal colours mean similar features, not one object; which side of which threshold is the"
    " object is for the reader to say."
)


@dataclass(frozen=True, eq=False, kw_only=True)
class Features(Answer):
    """Colours and likenesses of patches.

    Attributes:
        title: above the colours.
        layer: uint8 "row col 4", the colours with their opacity.
        likeness: "row col"; its title is that of the last table.
        picture: uint8 "row col 3".
        veil: how colours lie over it.
    """

    title: str
    layer: np.ndarray
    likeness: np.ndarray
    picture: np.ndarray
    veil: Veil


def answer(request: Request) -> Features:
    """The first three components of the patches, and their cosines with the chosen one."""
    trace, chosen = request.view, request.selection
    if request.picture is None:
        raise ValueError("view: expected the trace of a picture for 'features', received another")
    entry = image_entry(request)
    (rows, cols), prefix = entry.trace.grid or (1, 1), entry.trace.prefix
    asked = {"foreground": chosen.foreground, "deviations": chosen.deviations}
    response = given(features.components(entry, "", **asked))
    colours = np.array(response["colours"], np.uint8).reshape(rows, cols, 3)
    kept = np.array(response["foreground"], bool).reshape(rows, cols, 1)
    layer = np.concatenate([colours, np.where(kept, COLOURED, DARK)], -1).astype(np.uint8)
    shares = ", ".join(percent(share) for share in response["explained"])
    side = (
        ""
        if chosen.foreground == "all"
        else f" {chosen.foreground} {digits(response['threshold'])}"
    )
    title = f"{response['kept']} of {rows * cols} patches{side}; {shares} of their variance"
    token = max(prefix, chosen.token or prefix)
    likeness = np.array(given(features.similar(entry, "", token))["values"])
    name = trace.query_labels(request.site)[token]
    patches = trace.query_labels(request.site)[prefix:]
    levels = np.array(response["colours"]).reshape(-1, 3)
    components = {"patch": patches, "colour": ["red", "green", "blue"]}
    return Features(
        description="The last hidden states of the patches: their first three principal components"
        " are red, green and blue. Below, the cosine of each with that of a chosen patch.",
        tables=[
            Table("components", ("patch", "colour"), levels, components),
            Table(
                "similarity",
                ("patch",),
                likeness,
                {"patch": patches},
                {"of": name},
                title=f"Like {name}",
            ),
        ],
        layers=True,
        doubt=DOUBT,
        title=title,
        layer=layer,
        likeness=likeness.reshape(rows, cols),
        picture=request.picture,
        veil=veil_of(request),
    )


def figure(answer: Features, page: "Page") -> None:
    """The picture twice: under the colours, and under the cosines."""
    from viz.parts import Picture, pictures

    scale = scale_of(answer.likeness, "cosine", "dark")
    drawn = overlaid(answer.likeness, scale, answer.picture, answer.veil)
    page.heading(answer.title)
    pictures(page, [Picture("", veiled(answer.layer, answer.picture, answer.veil))])
    page.heading(answer.tables[-1].title)
    pictures(page, [Picture("", drawn)])
    page.bar(scale)


def asks(request: Request, entry: "TraceEntry") -> list[str]:
    """The components, and what the first patches are like."""
    chosen = request.selection
    asked = {"foreground": chosen.foreground, "deviations": chosen.deviations}
    patches = range(entry.trace.prefix, len(entry.trace.labels))
    alike = [path_of("similar", token=token) for token in patches]
    return [path_of("components", **asked), *alike[:MOST]]


ENDPOINTS = (
    Endpoint("components", IMAGE, features.components, {}, options("foreground", "deviations")),
    Endpoint("similar", IMAGE, features.similar, {"token": WHOLE}),
)
