"""A forward pass that takes long: its progress, and a button that stops it."""

import time
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from viz.api import tracing
from viz.pages import shared
from viz.pages.state import session

if TYPE_CHECKING:
    from models.progress import Progress
    from models.request import TraceRequest
    from models.trace import Trace
    from viz.api.registry import Held

PATIENCE = 1.0  # seconds from which on a pass shows its progress
EVERY = 0.1  # seconds between two updates of the bar


def traced(page: str, request: "TraceRequest") -> "Held[Trace]":
    """The trace of a request, with its progress.

    Args:
        page: prefix of the widgets' keys.
        request: of the trace.
    """
    with progress(page, request, lambda: tracing.takes_long(request)) as report:
        return tracing.traced(request, report, shared.waiting(report))


def is_stopped(page: str, request: "TraceRequest") -> bool:
    """Whether the user stopped a pass; then says so, with a button that runs it after all."""
    state, name = st.session_state, f"{page}/stopped"
    if state.get(name) != request:
        return False
    with st.container(key=f"{page}_stopped", horizontal=True, vertical_alignment="center"):
        shared.notice("Stopped. Showing the previous result.")
        st.button(
            "Run it",
            key=f"{page}_run_again",
            on_click=session.callback(lambda: state.pop(name, None)),
        )
    return True


@contextmanager
def progress(page: str, of: Hashable, is_long: Callable[[], bool]) -> "Iterator[Progress]":
    """What a pass reports to: draws a bar and a button if it takes over a second.

    A click on the button, like any other change, ends this run of the page at the next update of
    the bar, and the pass with it.

    Args:
        page: prefix of the widgets' keys.
        of: what the pass computes.
        is_long: whether the bar is drawn at once.
    """
    began = time.monotonic()
    place, bar, drawn = None, None, 0.0

    def report(done: int, total: int) -> None:
        nonlocal place, bar, drawn
        now = time.monotonic()
        if bar is None:
            if now - began < PATIENCE and (done or not is_long()):
                return
            place = st.empty()
            bar = _bar(page, of, place)
        if now - drawn >= EVERY or done == total:
            drawn = now
            text = f"{done} of {total} layers" if total else "Waiting for other passes"
            bar.progress(done / max(1, total), text=text)

    yield report
    if place is not None:
        place.empty()


def _bar(page: str, of: Hashable, place: DeltaGenerator) -> DeltaGenerator:
    def stop() -> None:
        st.session_state[f"{page}/stopped"] = of

    with place.container(key=_working(page), horizontal=True, vertical_alignment="center"):
        bar = st.progress(0.0)
        st.button("Stop", key=f"{page}_stop_pass", on_click=session.callback(stop))
    return bar


def say(page: str, place: DeltaGenerator, text: str) -> None:
    """Says in a place what the page works on, where `Pass.progress` shows how far it is."""
    place.container(key=f"{_working(page)}_on").caption(shared.plain(text))


def _working(page: str) -> str:
    """The key of what a page works on; while a picture of another state is there, it is dimmed."""
    return f"{page}_working" if f"{page}/drawn" in st.session_state else f"{page}_starting"
