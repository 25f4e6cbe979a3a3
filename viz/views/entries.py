"""The entry that a file is made from: the API's own, or one for a trace that no page shows."""

from functools import partial
from typing import TYPE_CHECKING, Any

from viz.views.request import Request

if TYPE_CHECKING:
    from analysis.view import View
    from models.trace import Trace
    from viz.api.entries import TraceEntry


def entry_of(request: Request) -> "TraceEntry":
    """The entry that the view's requests are answered from, of a text or a picture."""
    return text_entry(request) if request.picture is None else image_entry(request)


def text_entry(request: Request) -> "TraceEntry":
    """The entry that the view's requests are answered from."""
    from viz.api.entries import TraceEntry

    if request.entry is not None:
        return request.entry
    opened = None if request.run is None else partial(_opened, *request.run)
    about = {} if request.run is None else _asked(request.run[1])
    return TraceEntry(
        request.view,
        lambda site, head, *_: code_of(request.view, site, head),
        opened=opened,
        **about,
    )


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


def _opened(model: Any, given: Any, written: Any = None) -> tuple[Any, Any, Any]:
    from models.run import as_model

    return as_model(model), given, written


def image_entry(request: Request) -> "TraceEntry":
    """The entry that the view's requests are answered from."""
    import numpy as np
    from PIL import Image

    from viz.api.entries import TraceEntry

    if request.entry is not None:
        return request.entry
    trace: Any = request.view
    rows, cols = trace.grid
    pixels = request.picture
    if pixels is None:
        pixels = np.full((16 * rows, 16 * cols, 3), 200, np.uint8)
    opened = None if request.run is None else partial(_opened, *request.run)
    return TraceEntry(
        trace,
        lambda site, head, *_: code_of(trace, site, head),
        opened=opened,
        pictures=(Image.fromarray(pixels),),
        patches=True,
    )


def code_of(view: "Trace | View", site: int | None, head: int | str) -> str:
    """Python code for the weights, given the trace."""
    if site is None:
        return ""
    place = view.address(view.sites[site]).arguments
    if isinstance(head, int):
        return f"t.weights({', '.join([*place, f'head={head}'])})  # query × key"
    combined = {"mean": "mean(0)", "max": "amax(0)"}[head]
    return f"t.weights({', '.join(place)}).{combined}  # query × key"
