"""All layers over a picture: the numbers of a method for each patch."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from analysis.methods import BY_NAME
from viz.api import model
from viz.api.endpoint import path_of
from viz.colours import Veil, overlaid, scale_of
from viz.selection import Chosen
from viz.views.answer import Answer, Table, digits, given
from viz.views.entries import image_entry
from viz.views.request import Request, veil_of

if TYPE_CHECKING:
    from viz.api.entries import TraceEntry
    from viz.paper import Page

KEYS = 24  # of a method that is computed key by key, in one request, as in the view


@dataclass(frozen=True, eq=False, kw_only=True)
class Over(Answer):
    """Numbers of patches, "row col", over the picture; the title is that of the one table."""

    patches: np.ndarray
    picture: np.ndarray | None
    veil: Veil


def over_picture(request: Request, chosen: Chosen, title: str) -> Over:
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
        response = given(model.relevance(entry, "", 0, chosen.name, output))
        about = f"{title} for the logit of “{response['name']}”, {digits(response['value'])}"
    else:
        response = given(model.row_of(entry, "", **asked))
        token = asked.get("index")
        about = f"{title} from {response['reads'] if token is None else entry.trace.labels[token]}"
    (rows, cols), prefix = grid_of(entry.trace, entry.trace.sites[0])
    values = np.array(response["values"])
    patches = values[prefix : prefix + rows * cols].reshape(rows, cols)
    said: dict[str, Any] = {
        "title": about,
        "words": "relevance" if info.kind == "relevance" else "value",
    }
    labels = {"token": entry.trace.labels}
    return Over(
        description=f"{title}. {info.shows} Tokens without a place on the picture are not drawn.",
        tables=[Table(chosen.name, ("token",), values, labels, {"of": about}, **said)],
        patches=patches,
        picture=request.picture,
        veil=veil_of(request),
    )


def drawn_over(answer: Over, page: "Page") -> None:
    """The picture under the numbers."""
    from viz.parts import Picture, pictures

    (table,) = answer.tables
    scale = scale_of(answer.patches, table.words, "dark")
    page.heading(table.title)
    pictures(page, [Picture("", overlaid(answer.patches, scale, answer.picture, answer.veil))])
    page.bar(scale)


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
