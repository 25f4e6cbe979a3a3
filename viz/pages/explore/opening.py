"""The first picture of the examples that come with the app, before PyTorch is there.

Then the library of pretrained models is imported, which takes some 2 seconds.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from pathlib import Path
from threading import Timer

import streamlit as st

from models.request import Source, TraceRequest
from viz import stored
from viz.api import tracing
from viz.api.endpoint import path_of
from viz.pages import shared
from viz.pages.explore import edits, examples, inputs
from viz.pages.explore.names import PAGE
from viz.pages.state import session
from viz.pages.widgets import attention

FILE = Path(__file__).with_name("opening.json")
MODELS = ("minilm",)  # of the catalogue, with stored answers
LOADING = "Starting up; you can type already"
FIRST = 2  # responses after which the picture is whole
SECONDS = 3.0  # that the browser has for them before PyTorch is imported, which slows all else
STILL = 3.0  # seconds from the first page to that of the library: the first change comes before it
LIBRARY = "models.pretrained.loader"


def of_text(model: str) -> TraceRequest:
    """What a model of the list opens with."""
    text, target, _ = examples.first(model)
    return TraceRequest(tracing.of_catalogue(model), text, target or None)


def paths(model: str) -> list[str]:
    """What the view asks for when it opens."""
    begin = examples.begin(model, {}) or {}
    site = begin["layer"]  # of models whose layers have one site each
    row = path_of("row", site=site, head=begin["head"], axis="query", index=begin["token"])
    return ["overview", row, "vector", "worth", "refused", "numbers"]


@contextmanager
def early(stage: attention.Stage, wanted: Source) -> Iterator[None]:
    """Shows a picture with stored answers, if there are any, while its result is computed inside.

    Args:
        stage: of the view.
        wanted: the chosen model.
    """
    request = _request(wanted)
    served = stored.paths(FILE, wanted.catalogue) if request else {}
    if request is None or not served:
        yield
        return
    with tracing.expecting(request) as expected:
        if not expected.settled.done():
            more = {"stored": served, "tour": examples.tour()}
            stage.props = {**edits.props(request), **more}
            stage.expect(expected, wanted.layout)
            if shared.cold():
                st.empty().html(f'<div class="about-loading" role="status">{LOADING}</div>')
                end = time.monotonic() + SECONDS
                for _ in range(FIRST):
                    stored.served.acquire(timeout=max(0.0, end - time.monotonic()))
                time.sleep(attention.PAINT_SECONDS)
        yield


def _request(wanted: Source) -> TraceRequest | None:
    """The request of the page, if it is what its model opens with."""
    settings, model = session.current(PAGE).settings, wanted.catalogue
    changed = any(settings[name] for name in ("pair", "edits", "compare", "second"))
    if model not in MODELS or changed or inputs.whole_words():
        return None
    try:
        source = tracing.stamped(wanted)
        request = TraceRequest(source, settings["input"], settings["target"] or None)
        return request if request == of_text(model) else None
    except ValueError:  # its files are missing: opening it says so
        return None


@cache
def prepare() -> Timer:
    """Imports the library shortly, and once."""
    timer = Timer(STILL, import_module, [LIBRARY])
    timer.daemon = True
    timer.start()
    return timer
