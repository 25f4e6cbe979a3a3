"""Fetching a model from the hub: its size said first, then progress that can be stopped."""

import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import streamlit as st

from viz.architecture import short
from viz.pages import shared
from viz.pages.models import checkpoint
from viz.pages.models.checkpoint import PAGE
from viz.pages.shared import plain

if TYPE_CHECKING:
    pass

POLL = 0.5  # seconds between two looks at how far it is


@dataclass(eq=False)
class Download:
    """One model on its way.

    Attributes:
        plan: what is fetched.
        come: bytes so far.
        problem: why it ended early; empty if it did not.
        done: whether it has ended, well or not.
        stop: set by whoever does not want it any more.
    """

    plan: "Plan"
    come: int = 0
    problem: str = ""
    done: bool = False
    stop: threading.Event = field(default_factory=threading.Event)

    def run(self) -> None:
        """Fetches; what goes wrong is kept for the page to say."""
        from models.files import hub

        def tell(come: int, total: int) -> None:
            self.come = come

        try:
            hub.download(self.plan, progress=tell, cancelled=self.stop.is_set)
        except ValueError as error:
            self.problem = str(error)
        finally:
            self.done = True


@st.cache_resource(show_spinner=False)
def _downloads() -> dict[str, Download]:
    """Those on their way and those that ended, over all users, by the model's id."""
    return {}


def offer(name: str) -> None:
    """Looks a model up that is not here, says its size, fetches it.

    Raises:
        ValueError: for an id that is none, or a hub that cannot be asked.
    """
    state = st.session_state
    running = _downloads().get(name)
    if running is not None and not running.done:
        _progress(name)
        return
    if running is not None and running.problem:
        shared.error_line(running.problem)
    plan = state.get(f"{PAGE}_plan")
    if plan is None or plan.name != name:
        st.button(
            "Look it up on the hub",
            key=f"{PAGE}_look_up",
            on_click=_look_up,
            args=(name,),
            help="Asks the hub how large it is; fetches nothing yet",
        )
        problem = state.get(f"{PAGE}_unknown", ("", ""))
        if problem[0] == name:
            shared.error_line(problem[1])
        return
    size = short(plan.size, "memory")
    licence = f", licence {plan.licence}" if plan.licence else ""
    st.caption(plain(f"{name}: {size} in {len(plan.files)} files{licence}."))
    st.button(f"Fetch it ({size})", key=f"{PAGE}_fetch", on_click=_start, args=(plan,))


def _look_up(name: str) -> None:
    from models.files import hub

    state = st.session_state
    try:
        checkpoint.check(checkpoint.Source("hub", name))
        state[f"{PAGE}_plan"], state[f"{PAGE}_unknown"] = hub.plan_download(name), ("", "")
    except ValueError as error:
        state[f"{PAGE}_unknown"] = (name, str(error))


def _start(plan: "Plan") -> None:
    checkpoint.check(checkpoint.Source("hub", plan.name))
    known = _downloads()
    for name in [name for name, other in known.items() if other.done]:
        known.pop(name, None)
    download = known[plan.name] = Download(plan)
    threading.Thread(target=download.run, name="download", daemon=True).start()


@st.fragment(run_every=POLL)
def _progress(name: str) -> None:
    """How far it is, looked at again and again without the rest of the page."""
    download = _downloads().get(name)
    if download is None or download.done:
        st.rerun()
    whole = max(1, download.plan.size)
    come, all_of_it = short(download.come, "memory"), short(download.plan.size, "memory")
    st.progress(min(1.0, download.come / whole), text=plain(f"{name}: {come} of {all_of_it}"))
    st.button("Stop", key=f"{PAGE}_stop", on_click=download.stop.set)
