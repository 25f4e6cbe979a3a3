"""The last hidden states of the patches as colours, and how like the chosen one each is."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from analysis.percent import percent
from viz.api.endpoint import endpoint, path_of
from viz.api.entries import TraceEntry
from viz.api.rerun import with_hidden
from viz.colours import layer_of, scale_of
from viz.selection import Form
from viz.views.answer import Table
from viz.views.over import WHOLE, OverPictures, Sheet, figure
from viz.views.request import Request

if TYPE_CHECKING:
    from jaxtyping import Float, Int
    from torch import Tensor


__all__ = ["VIEW", "answer", "asks", "figure"]
VIEW = Form(
    "features",
    "Features",
    "The last states of the patches by their principal components, and which are alike",
    place=14,
    options=("token",),
    covers="layers",
    texts=False,
    pictured=True,
)
COLOURED = 230  # opacity of a patch's colour, of 255
MOST = 300  # patches whose likenesses a page holds
DOUBT = "Equal colours mean similar features, not one object."


@dataclass(frozen=True, eq=False)
class PatchComponents:
    """The first three principal components of the patches' last states as colours.

    Attributes:
        colours: red, green and blue of each patch in turn, 0 to 255.
        explained: shares of the variance.
    """

    colours: "Int[Tensor, 'number']"
    explained: "Float[Tensor, '3']"


@dataclass(frozen=True, eq=False)
class Likeness:
    """The cosine of every patch's last state and a chosen one's, from −1 to 1."""

    values: "Float[Tensor, 'patch']"


@endpoint("components", "image")
def components(entry: TraceEntry) -> PatchComponents:
    """Each patch in its colour."""
    from analysis.vision import feature_colours

    colours, explained = feature_colours(_features(entry))
    return PatchComponents((255 * colours).round().int().flatten(), explained)


@endpoint("similar", "image")
def similar(entry: TraceEntry, token: int) -> Likeness:
    """How like the chosen patch each is."""
    from analysis.vision import patch_similarity

    return Likeness(patch_similarity(_features(entry), token - entry.trace.prefix))


def _features(entry: TraceEntry) -> "Float[Tensor, 'patch dim']":
    """The last hidden states of the patches.

    Raises:
        ValueError: where the layers have patches of several sizes.
    """
    trace = entry.trace
    if len({(site.queries, site.keys) for site in trace.sites}) > 1:
        raise ValueError("this needs layers that are alike: here they differ in their patches")
    return with_hidden(entry).final()[trace.prefix :].cpu()


def answer(request: Request) -> OverPictures:
    """The first three components of the patches, and their cosines with the chosen one."""
    trace, chosen = request.view, request.selection
    if request.picture is None:
        raise ValueError("view: expected the trace of a picture for 'features', received another")
    entry = request.entry
    (rows, cols), prefix = entry.trace.grid or (1, 1), entry.trace.prefix
    result = components(entry)
    levels = result.colours.numpy(force=True).reshape(-1, 3)
    opacity = np.full((rows, cols, 1), COLOURED)
    layer = np.concatenate([levels.reshape(rows, cols, 3), opacity], -1).astype(np.uint8)
    shares = ", ".join(percent(share) for share in result.explained.tolist())
    title = f"{rows * cols} patches; {shares} of their variance"
    token = max(prefix, chosen.token or prefix)
    likeness = similar(entry, token).values.numpy(force=True)
    name = trace.query_labels(request.site)[token]
    patches = trace.query_labels(request.site)[prefix:]
    named = {"patch": patches, "colour": ["red", "green", "blue"]}
    scale = scale_of(likeness, "cosine", "dark")
    near = layer_of(likeness.reshape(rows, cols), scale)
    return OverPictures(
        description="The last hidden states of the patches: their first three principal components"
        " are red, green and blue. Below, the cosine of each with that of a chosen patch.",
        tables=[
            Table("components", ("patch", "colour"), levels, named),
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
        groups=[
            (title, [Sheet("", request.picture, [(layer, WHOLE)])], None),
            (f"Like {name}", [Sheet("", request.picture, [(near, WHOLE)], grey=True)], scale),
        ],
    )


def asks(request: Request, entry: TraceEntry) -> list[str]:
    """The components, and what the first patches are like."""
    patches = range(entry.trace.prefix, len(entry.trace.labels))
    alike = [path_of("similar", token=token) for token in patches]
    return [path_of("components"), *alike[:MOST]]
