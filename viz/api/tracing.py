"""The one way from a `TraceRequest` to a result of the registry.

Opens its model, traces its input, and registers both; concurrent callers share them, and memory is
counted where the results are held.

With PUBLIC=1 in the environment the server opens models of its catalogue only. This is enforced
here, where every model is opened, regardless of links and controls.
"""

import gc
import hashlib
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from models import catalogue
from models.catalogue import entry
from models.request import (
    PLACES,
    File,
    Place,
    Question,
    Source,
    TraceRequest,
)
from viz.api import pool
from viz.api.entries import TraceEntry
from viz.api.registry import Held, registry
from viz.api.samples import card_of

if TYPE_CHECKING:
    from PIL.Image import Image

    from analysis.worth import Worth
    from models.files.folder import Folder
    from models.inputs.pictures import Processed
    from models.model import Model
    from models.progress import Progress
    from models.trace import Trace

CLOSED = "this server is public: it opens the models of its catalogue only"
PUBLIC_PLACES: tuple[Place, ...] = ("catalogue", "built")
MAX_FILES = 100  # of a folder that are checked for changes
MOST = 2**24  # weights that are looked at before the first picture
AT_ONCE = 2  # over all users
LARGE = 5_000_000  # parameters from which on a pass gets all cores
LONG = 10**10  # FLOPs from which on it does: half a second on one core, about
_FORWARDS = threading.BoundedSemaphore(AT_ONCE)


def public() -> bool:
    """Whether this server opens models of its catalogue only."""
    return os.environ.get("PUBLIC", "") not in ("", "0")


def places() -> tuple[Place, ...]:
    """The places this server opens models from."""
    return PUBLIC_PLACES if public() else PLACES


def check(source: Source) -> None:
    """Raises ValueError for a source this server does not allow."""
    if source.place not in places():
        raise ValueError(CLOSED)


def stamped(source: Source) -> Source:
    """The source with the stamp of its files.

    Raises:
        ValueError: if it is not on this machine, or not allowed.
    """
    check(source)
    if source.place == "built":
        return source
    try:  # of a model of the catalogue without PyTorch
        known = catalogue.folder(entry(source.name)) if source.catalogue else folder(source).path
        files = sorted(known.iterdir())[:MAX_FILES]
        states = [(file.name, file.stat().st_size, file.stat().st_mtime_ns) for file in files]
    except OSError:
        states = []
    return replace(source, stamp=hashlib.sha256(repr(states).encode()).hexdigest())


def folder(source: Source) -> "Folder":
    """The folder with the files of a source.

    Raises:
        ValueError: if it is not on this machine, or not allowed.
    """
    from models.files.folder import Folder

    check(source)
    if source.place == "catalogue":
        return Folder.at(catalogue.folder(entry(source.name)))
    return _of_hub(source.name) if source.place == "hub" else _of_path(source.name)


def model_of(source: Source) -> "Held[Model]":
    """The model of a stamped source, opened once and shared: it must not be modified.

    Raises:
        ValueError: in one line, if it cannot be opened, or is not allowed.
    """
    check(source)
    return registry.once(("model", source), lambda: _open(source))


def opened(source: Source) -> "Model":
    """That model itself."""
    return model_of(source).value


def of_catalogue(name: str, device: str = "cpu") -> Source:
    """A model of the catalogue."""
    return stamped(Source("catalogue", name, device=device))


def traced(
    request: TraceRequest,
    progress: "Progress" = pool.report,
    meanwhile: Callable[[], None] = lambda: None,
) -> "Held[Trace]":
    """The trace of a request.

    Args:
        request: what to trace; its source is stamped.
        progress: see `models.progress`.
        meanwhile: see `pool.wait`, while others compute it or run their passes.
    """
    from models.tracing import run

    model = model_of(request.model)

    def make() -> "Trace":
        with forward_pass(model.value, long=takes_long(request), meanwhile=meanwhile):
            return run(request, model.value, progress)

    return registry.once(("trace", request), make, parent=model, meanwhile=meanwhile)


def expecting(request: TraceRequest, *, words: bool = False) -> AbstractContextManager[Held]:
    """The result that `entry_for` returns inside, which can be requested while it is computed."""
    return registry.expecting(("view", request, words))


def entry_for(request: TraceRequest, *, words: bool = False) -> Held[TraceEntry]:
    """The result that the views ask: a picture with its patches, or a text.

    Args:
        request: of the trace.
        words: whether weights of a text are between whole words, not tokens.
    """
    held, key = traced(request), ("view", request, words)
    return registry.once(key, lambda: _entry(request, held.value, words), parent=held)


def worth(held: Held[TraceEntry]) -> "Worth | None":
    """The row to begin with; None where there is none, where it would take long to find, and where
    layer and kind do not name its site."""
    from viz.api.worth import rows

    trace = held.value.trace
    if sum(site.heads * site.queries * site.keys for site in trace.sites) > MOST:
        return None
    try:
        chosen = rows(held.value)[0]
    except ValueError:
        return None
    where = trace.address(chosen.site)
    return chosen if (where.module, where.part) == (None, None) else None


def takes_long(request: TraceRequest) -> bool:
    """Whether the pass of a request takes more than a moment."""
    from models.loading.estimate import estimate
    from models.tracing import length

    model = opened(request.model)
    return estimate(model, length(request, model)).flops > LONG


def arguments(request: TraceRequest) -> "tuple[Model, Any, Any]":
    """The model of a request, and input and target as `models.run.trace` takes them."""
    from models.tracing import arguments

    return arguments(request, opened(request.model))


def notes_of(request: TraceRequest) -> tuple[str, ...]:
    """What was done to the picture of a request; () for other inputs."""
    processed = _seen(request)
    return () if processed is None else processed.notes


def _seen(request: TraceRequest) -> "Processed | None":
    """The picture of a request as its model sees it; None for other inputs."""
    from models.tracing import seen

    return None if request.picture is None else seen(request.picture, opened(request.model))


def _image(request: TraceRequest) -> "Image | None":
    processed = _seen(request)
    return None if processed is None else processed.image


def _of_hub(name: str) -> "Folder":
    from models.files import hub

    if not name:
        raise ValueError("type the hub id of a model, such as owner/name")
    if not hub.HUB_ID.fullmatch(name):
        raise ValueError(f"{name!r} is not a hub id: expected owner/name")
    if (cached := hub.cached_folder(name)) is None:
        raise ValueError(f"{name} is not on this machine yet: look it up, then download it")
    return cached


def _of_path(name: str) -> "Folder":
    from models.files.folder import Folder

    if not (name := name.strip()):
        raise ValueError("type the path of a folder that holds config.json and weights")
    with suppress(OSError, ValueError):  # too long, or not a valid path
        if (path := Path(name).expanduser()).is_dir():
            return Folder.at(path)
    raise ValueError(f"there is no folder {name!r} on the machine this app runs on")


def _open(source: Source) -> "Model":
    from models.tracing import open_model

    _imports_stay()
    model = open_model(source)
    # every pass, whatever runs it, ends with a request that is stopped or whose visitor left
    model.network.register_forward_pre_hook(lambda *_: pool.check())
    return model


def _entry(request: TraceRequest, trace: "Trace", words: bool) -> TraceEntry:
    from analysis.view import View, joint_layers

    model = opened(request.model)
    patches = _patches(request, trace)
    view = trace
    if patches is None and (words or joint_layers(trace)):
        view = View(trace, words)
    plain = replace(request, edits=())
    return TraceEntry(
        view,
        request,
        model=model,
        forward_pass=partial(forward_pass, model),
        opened=lambda: arguments(request),
        pictures=_pictures(request) if patches is None else (patches,),
        patches=patches is not None,
        mark=None if patches is None else _mark(request.model, trace),
        asked=isinstance(request.input, Question),
        video=isinstance(request.input, Question) and request.input.video,
        before=(lambda: entry_for(plain, words=words).value) if request.edits else None,
    )


def _patches(request: TraceRequest, trace: "Trace") -> "Image | None":
    """The picture whose square patches all tokens are, in every layer; None for other tokens.

    Layers may have grids of their own: larger patches, as in networks of several stages, which
    cover the same area.
    """
    from analysis.patches import grid_of
    from models.inputs.pictures import cropped, edited_image

    if (image := _image(request)) is None or trace.grid is None:
        return None
    image = cropped(image, trace.box)
    if len({site.tower for site in trace.sites}) > 1:
        return None
    try:
        (rows, cols), *_ = [grid_of(trace, site)[0] for site in trace.sites]
    except ValueError:
        return None
    boxes = {grid.box for grid in map(trace.query_grid, trace.sites) if grid is not None}
    side = image.size[1] // rows
    if len(boxes) > 1 or (cols * side, rows * side) != image.size:
        return None
    return edited_image(image, request.edits, (rows, cols))


def _pictures(request: TraceRequest) -> "tuple[File | Image, ...]":
    """The pictures that tokens of a text's view may lie on."""
    from models.inputs.video import read_video
    from models.tracing import film

    if isinstance(request.input, Question):
        asked = request.input
        return read_video(film(asked)).frames if asked.video else asked.pictures
    return () if (image := _image(request)) is None else (image,)


def _mark(source: Source, trace: "Trace") -> tuple[int, int] | None:
    """Row and column of the patch that a trained network answers."""
    about = card_of(source.catalogue)
    if about is None or not about.place:
        return None
    sizes = [len(question.classes) for question in about.questions]
    answers = trace.output.values[0].split(sizes)
    col, row = (int(answers[question].argmax()) for question in about.place)
    return row, col


# ---- passes: how many at a time, and on how many cores


@contextmanager
def forward_pass(
    model: "Model", *, long: bool = False, meanwhile: Callable[[], None] = lambda: None
) -> Iterator[None]:
    """Limits concurrent forward passes, over all users.

    A large model or a long pass gets all cores. Everything else that the app does in PyTorch is
    small and gets one core: more threads would only add overhead.

    Args:
        model: of the pass.
        long: whether the pass is long.
        meanwhile: see `pool.wait`, while others run.
    """
    import torch

    large = sum(weights.numel() for weights in model.network.parameters()) > LARGE
    pool.wait(lambda seconds: _FORWARDS.acquire(timeout=seconds), meanwhile)
    try:
        torch.set_num_threads(_cores() if large or long else 1)
        yield
    finally:
        torch.set_num_threads(1)
        _FORWARDS.release()


@cache
def _imports_stay() -> None:
    """Freezes imported objects, so that later garbage collections are faster."""
    gc.collect()
    gc.freeze()


@cache
def _cores() -> int:
    """PyTorch's default number of threads; must be called before it is changed."""
    import torch

    return torch.get_num_threads()
