"""The entry that a file of a trace is made from, where no page shows the trace."""

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from analysis.view import View
    from models.trace import Trace
    from viz.api.entries import TraceEntry


def entry_of(
    t: "Trace | View", picture: Any, run: tuple[Any, ...] | None, *, over_picture: bool
) -> "TraceEntry":
    """The entry of a trace.

    Args:
        t: the trace, or a view of it.
        picture: that was traced; None for a grey one.
        run: the model, its input and, of an encoder–decoder, what the decoder reads; None without.
        over_picture: whether its tokens are shown as patches.
    """
    from PIL import Image

    from viz.api.entries import TraceEntry

    about: dict[str, Any] = {} if run is None else {"opened": partial(_opened, *run)}
    if over_picture or picture is not None:
        pixels = pixels_of(t, picture)
        return TraceEntry(t, pictures=(Image.fromarray(pixels),), patches=True, **about)
    return TraceEntry(t, **about, **({} if run is None else _asked(run[1])))


def _opened(model: Any, given: Any, written: Any = None) -> tuple[Any, Any, Any]:
    from models.run import as_model

    return as_model(model), given, written


def _asked(given: Any) -> dict[str, Any]:
    """What an entry says of a question about pictures or a video; {} for other inputs."""
    from models.inputs.pictures import opened
    from models.inputs.prompt import Prompt
    from models.inputs.video import read_video

    if not isinstance(given, Prompt) or not (given.images or given.video):
        return {}
    if given.video is not None:
        return {"pictures": read_video(given.video).frames, "asked": True, "video": True}
    return {"pictures": tuple(opened(each).image for each in given.images), "asked": True}


def pixels_of(t: Any, picture: Any) -> np.ndarray:
    """What the network read of a picture, at the size that a whole number of patches covers."""
    from models.image import Picture, fit_image
    from models.inputs.pictures import as_read

    if getattr(t, "grid", None) is None:
        raise ValueError("picture: expected the trace of a picture, received one of a text")
    rows, cols = t.grid
    if picture is None:
        return np.full((16 * rows, 16 * cols, 3), 200, np.uint8)
    opened = Picture(as_read(t.preprocessing, picture, t.box))
    side = max(1, round(max(224, 8 * max(rows, cols)) / max(rows, cols)))
    image, _ = fit_image(opened, rows * side, cols * side)
    return np.asarray(image.convert("RGB"))
