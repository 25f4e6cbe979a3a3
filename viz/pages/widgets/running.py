"""A forward pass that takes long: what it will take, its progress, and a button that stops it."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from viz.api import passes
from viz.architecture import short
from viz.pages import shared
from viz.pages.state import session

if TYPE_CHECKING:
    from models.loading.estimate import Estimate
    from models.progress import Progress

LONG = 1.0  # seconds from which on a pass shows its progress
EVERY = 0.1  # seconds between two updates of the bar


@dataclass(frozen=True)
class Pass:
    """One forward pass of a page.

    Attributes:
        page: prefix of its widget keys.
        id: of what it computes.
        cost: what it takes, and the device it runs on; called only if it runs, or was stopped.
    """

    page: str
    id: str
    cost: "Callable[[], tuple[Estimate, str]]"

    def seconds(self) -> float:
        """How long it takes, about."""
        return passes.seconds(*self.cost())

    def words(self) -> str:
        """How long it takes and how much memory."""
        memory = self.cost()[0].bytes
        taken = f" and {short(memory, 'memory')}" if memory else ""
        return f"about {duration(self.seconds())}{taken}"

    @property
    def stopped(self) -> bool:
        """Whether the user stopped it."""
        return st.session_state.get(f"{self.page}/stopped") == self.id

    def offer(self) -> None:
        """Says that it was stopped, with a button that runs it after all."""
        state, name = st.session_state, f"{self.page}/stopped"
        with st.container(key=f"{self.page}_stopped", horizontal=True, vertical_alignment="center"):
            shared.notice("Stopped. Showing the previous result.")
            st.button(
                f"Run it ({self.words()})",
                key=f"{self.page}_run_again",
                on_click=session.callback(lambda: state.pop(name, None)),
            )

    @contextmanager
    def progress(self) -> "Iterator[Progress]":
        """What the pass reports to: draws a bar and a button if it takes over a second.

        A click on the button, like any other change, ends this run of the page at the next update
        of the bar, and the pass with it.
        """
        began = time.monotonic()
        place, bar, drawn, text = None, None, 0.0, ""

        def report(done: int, total: int) -> None:
            nonlocal place, bar, drawn, text
            now = time.monotonic()
            if bar is None:
                if now - began < LONG and (done or self.seconds() < LONG):
                    return
                text = f"Takes {self.words()}"
                place = st.empty()
                bar = self._draw(place)
            if now - drawn >= EVERY or done == total:
                drawn = now
                so_far = f"{done} of {total} layers" if total else "waiting for other passes"
                bar.progress(done / max(1, total), text=f"{text} · {so_far}")

        yield report
        if place is not None:
            place.empty()

    def _draw(self, place: DeltaGenerator) -> DeltaGenerator:
        state, name = st.session_state, f"{self.page}/stopped"

        def stop() -> None:
            state[name] = self.id

        with place.container(key=_working(self.page), horizontal=True, vertical_alignment="center"):
            bar = st.progress(0.0)
            st.button("Stop", key=f"{self.page}_stop_pass", on_click=session.callback(stop))
        return bar


def say(page: str, place: DeltaGenerator, text: str) -> None:
    """Says in a place what the page works on, where `Pass.progress` shows how far it is."""
    place.container(key=f"{_working(page)}_on").caption(shared.plain(text))


def _working(page: str) -> str:
    """The key of what a page works on; while a picture of another state is there, it is dimmed."""
    return f"{page}_working" if f"{page}/drawn" in st.session_state else f"{page}_starting"


def duration(seconds: float) -> str:
    """Seconds or minutes, in words."""
    if seconds < 1:
        return "1 s"
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"
