"""Shared by the pages: results, messages, the device.

Modules that need torch are imported inside functions, so that a page's first output does not wait.
"""

import hashlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st

from viz.amounts import short
from viz.api import tracing
from viz.pages import compute
from viz.pages.state import session

if TYPE_CHECKING:
    from models.progress import Progress
    from models.request import TraceRequest
    from viz.api.entries import TraceEntry
    from viz.api.registry import Held

ROOT = Path(__file__).parents[2]


def error_line(message: object) -> None:
    """A one-line error message; the user's markdown and HTML are escaped."""
    line = " ".join(str(message).split())
    with st.container(key=f"problem_{hashlib.sha1(line.encode()).hexdigest()[:8]}"):
        st.error(plain(line), icon=":material/error:")


def notice(message: object) -> None:
    """A one-line note, for example on truncated input."""
    st.info(plain(" ".join(str(message).split())), icon=":material/info:")


def plain(text: str) -> str:
    """Text escaped for Streamlit's markdown."""
    escaped = "".join(f"\\{c}" if c in "\\`*_{}[]()<>#+-.!|~$&@/=" else c for c in text)
    return escaped.replace(":", "&#58;")  # an escaped colon could still begin a directive


def waiting(progress: "Progress | None" = None) -> Callable[[], None]:
    """What a page does while it waits for another run: reports it, and ends if the user wants."""

    def meanwhile() -> None:
        if progress is not None:
            progress(0, 0)
        st.session_state.get("waiting")  # Streamlit ends a script here that is to run again

    return meanwhile


def entry_for(request: "TraceRequest", *, words: bool = False) -> "Held[TraceEntry]":
    """The result of a request beside the page's own; its pass ends when the visitor leaves."""
    meanwhile = waiting()
    tracing.traced(request, lambda done, total: meanwhile(), meanwhile)
    return tracing.entry_for(request, words=words)


def device() -> str:
    """The selected device if this machine has it, else the CPU."""
    chosen = session.app("device")
    if chosen == "cpu":
        return chosen
    return chosen if chosen in compute.devices() else "cpu"


def check_memory(needed: int) -> None:
    """Raises ValueError for a network that needs more bytes than are free on this machine."""
    free = compute.available_memory(device())
    if free is not None and needed > compute.SHARE * free:
        raise ValueError(
            f"This network needs about {short(needed, 'memory')} of memory, but only"
            f" {short(free, 'memory')} are free: make it smaller."
        )


def cold() -> bool:
    """Whether PyTorch is not imported yet, which takes seconds."""
    return "torch" not in sys.modules
