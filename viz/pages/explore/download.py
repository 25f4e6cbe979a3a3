"""Downloads of models: size first, then a progress bar; downloads can be stopped."""

import threading
import time
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import streamlit as st

from models import fetch as fetching
from models.catalogue import entry
from models.files.errors import FetchCancelledError
from models.request import Source
from viz.amounts import short
from viz.api import tracing
from viz.pages import compute, shared
from viz.pages.explore.names import PAGE
from viz.pages.shared import plain
from viz.pages.state import session

if TYPE_CHECKING:
    from models.files.hub import DownloadPlan

POLL = 0.25  # seconds between two updates of the progress bar
BAR = f"{PAGE}/bar"
PLAN = f"{PAGE}/plan"  # in the session, that of the model looked up last, or why there is none


class Download(threading.Thread):
    """The download of one model; `fetch` takes a `progress`, `stop` ends it.

    Attributes:
        size: bytes to download.
        come: bytes received so far.
        problem: error message; empty if there was no error.
    """

    def __init__(self, size: int, fetch: Callable[..., Any]) -> None:
        super().__init__(name="download", daemon=True)
        self.size, self.come, self.problem = size, 0, ""
        self._fetch, self._stopped = fetch, threading.Event()
        self.stop = self._stopped.set

    def run(self) -> None:
        """Downloads the files; an error is kept for the page to show."""
        try:
            self._fetch(progress=self._received)
        except ValueError as error:
            self.problem = str(error)

    def _received(self, come: int, total: int) -> None:
        if self._stopped.is_set():
            raise FetchCancelledError("the download was stopped")
        self.come = come


@st.cache_resource(show_spinner=False)
def downloads() -> dict[str, Download]:
    """All running and ended downloads, of all users, by hub id or name in the catalogue."""
    return {}


def offer_entry(name: str) -> None:
    """Offers a model of the catalogue that is fetched first: its provenance, size and a button."""
    known = entry(name)
    about = f"{known.title}. {known.summary} {known.provenance}"
    size = f"{known.download / 1e6:.0f} MB"
    _offer(name, known.download, partial(fetching.fetch, known), about, f"Get ({size})")


def offer(name: str) -> None:
    """Offers a download of the hub: a button to look up the size, then a button to download.

    Raises:
        ValueError: for an invalid id, or if the hub is unreachable.
    """
    plan: DownloadPlan | None
    asked, plan, problem = st.session_state.get(PLAN, ("", None, ""))
    if asked == name and plan is not None:
        size = short(plan.size, "memory")
        licence = f", licence {plan.licence}" if plan.licence else ""
        about = f"{name}: {size} in {len(plan.files)} files{licence}."
        fetch = partial(compute.hub.download, plan)
        _offer(name, plan.size, fetch, about, f"Fetch it ({size})")
        return
    label, help = "Look it up on the hub", "Requests the size alone"
    action = partial(_look_up, name)
    st.button(label, key=f"{PAGE}_look_up", on_click=session.callback(action), help=help)
    if asked == name:
        shared.error_line(problem)


def _look_up(name: str) -> None:
    try:
        tracing.check(Source("hub", name))
        st.session_state[PLAN] = name, compute.hub.plan_download(name), ""
    except ValueError as error:
        st.session_state[PLAN] = name, None, str(error)


def _offer(name: str, size: int, fetch: Callable[..., Any], about: str, label: str) -> None:
    """A button that downloads; while it does, a bar and a button that stops it."""
    last = downloads().get(name)
    if last is not None and last.is_alive():
        st.session_state[BAR] = name, st.empty()
        st.button("Stop", key=f"{PAGE}_stop", on_click=session.callback(last.stop))
        return
    if last is not None and last.problem:
        shared.error_line(last.problem)
    st.caption(plain(about))
    start = partial(_start, name, size, fetch)
    st.button(label, key=f"{PAGE}_fetch", type="primary", on_click=session.callback(start))


def _start(name: str, size: int, fetch: Callable[..., Any]) -> None:
    running = downloads()
    for other in [other for other, each in running.items() if not each.is_alive()]:
        running.pop(other, None)
    running[name] = Download(size, fetch)
    running[name].start()


def follow() -> None:
    """Updates the progress bar until the download ends, then runs the page again.

    Must be called last on a page: any interaction interrupts it at the next update of the bar.
    """
    name, bar = st.session_state.pop(BAR, ("", None))
    if bar is None:
        return
    running = downloads()[name]
    while running.is_alive():
        come, total = (short(each, "memory") for each in (running.come, running.size))
        share = min(1.0, running.come / max(1, running.size))
        bar.progress(share, plain(f"{name}: {come} of {total}"))
        time.sleep(POLL)
    st.rerun()
