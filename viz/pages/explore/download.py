"""Downloads of models: size first, then a progress bar; downloads can be stopped."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import streamlit as st

from models import fetch as fetching
from models.catalogue import entry
from models.request import Source
from viz.api import tracing
from viz.architecture import short
from viz.pages import compute, shared
from viz.pages.explore.names import PAGE
from viz.pages.shared import plain
from viz.pages.state import session

if TYPE_CHECKING:
    from models.files.hub import DownloadPlan

POLL = 0.25  # seconds between two updates of the progress bar
BAR, PLAN, PROBLEM = f"{PAGE}/bar", f"{PAGE}/plan", f"{PAGE}/look_up_problem"


@dataclass(eq=False)
class Download:
    """The download of one model.

    Attributes:
        size: bytes to download.
        fetch: the function that downloads, with a `progress` and `cancelled` as arguments.
        come: bytes received so far.
        problem: error message; empty if there was no error.
        done: whether it has ended, with or without error.
        stop: set to stop the download.
    """

    size: int
    fetch: Callable[..., Any]
    come: int = 0
    problem: str = ""
    done: bool = False
    stop: threading.Event = field(default_factory=threading.Event)

    def run(self) -> None:
        """Downloads the files; an error is kept for the page to show."""
        try:
            self.fetch(progress=self._received, cancelled=self.stop.is_set)
        except ValueError as error:
            self.problem = str(error)
        finally:
            self.done = True

    def _received(self, come: int, total: int) -> None:
        self.come = come


@st.cache_resource(show_spinner=False)
def downloads() -> dict[str, Download]:
    """All running and ended downloads, of all users, by hub id or name in the catalogue."""
    return {}


def offer_entry(name: str) -> None:
    """Offers a model of the catalogue that is fetched first: its provenance, size and a button."""
    if _is_running(name):
        return
    known = entry(name)
    st.caption(plain(f"{known.title}. {known.summary} {known.provenance}"))
    fetch = partial(_start, name, known.download, partial(fetching.fetch, known))
    st.button(
        f"Get ({known.download / 1e6:.0f} MB)",
        key=f"{PAGE}_fetch",
        type="primary",
        on_click=session.callback(fetch),
    )


def offer(name: str) -> None:
    """Offers a download of the hub: a button to look up the size, then a button to download.

    Raises:
        ValueError: for an invalid id, or if the hub is unreachable.
    """
    if _is_running(name):
        return
    plan: DownloadPlan | None = st.session_state.get(PLAN)
    if plan is None or plan.name != name:
        help, action = "Requests the size; downloads nothing yet", partial(_look_up, name)
        label = "Look it up on the hub"
        st.button(label, key=f"{PAGE}_look_up", on_click=session.callback(action), help=help)
        asked, problem = st.session_state.get(PROBLEM, ("", ""))
        if asked == name:
            shared.error_line(problem)
        return
    size = short(plan.size, "memory")
    licence = f", licence {plan.licence}" if plan.licence else ""
    st.caption(plain(f"{name}: {size} in {len(plan.files)} files{licence}."))
    fetch = partial(_start, name, plan.size, partial(compute.hub.download, plan))
    st.button(f"Fetch it ({size})", key=f"{PAGE}_fetch", on_click=session.callback(fetch))


def follow(name: str) -> None:
    """Updates the progress bar until the download ends, then reruns the page.

    Must be called last on a page: any interaction interrupts it at the next update of the bar.
    """
    bar, running = st.session_state.pop(BAR, None), downloads().get(name)
    if bar is None or running is None:
        return
    while not running.done:
        come, total = (short(each, "memory") for each in (running.come, running.size))
        bar.progress(
            min(1.0, running.come / max(1, running.size)), plain(f"{name}: {come} of {total}")
        )
        time.sleep(POLL)
    st.rerun()


def _look_up(name: str) -> None:
    state = st.session_state
    try:
        tracing.check(Source("hub", name))
        state[PLAN], state[PROBLEM] = compute.hub.plan_download(name), ("", "")
    except ValueError as error:
        state[PROBLEM] = (name, str(error))


def _start(name: str, size: int, fetch: Callable[..., Any]) -> None:
    running = downloads()
    for other in [other for other, ended in running.items() if ended.done]:
        running.pop(other, None)
    running[name] = Download(size, fetch)
    threading.Thread(target=running[name].run, name="download", daemon=True).start()


def _is_running(name: str) -> bool:
    """Whether a download runs, which gets a bar and a button; says why the last one failed."""
    running = downloads().get(name)
    if running is not None and not running.done:
        st.session_state[BAR] = st.empty()
        st.button("Stop", key=f"{PAGE}_stop", on_click=session.callback(running.stop.set))
        return True
    if running is not None and running.problem:
        shared.error_line(running.problem)
    return False
