"""Edits that are kept by name, to come back to: each a button in the strip of edits."""

from collections.abc import Callable
from functools import partial
from typing import Any

import streamlit as st

from viz.pages import shared
from viz.pages.explore.names import PAGE
from viz.pages.widgets import controls

KEPT = f"{PAGE}/runs"
MOST = 12  # runs; the oldest goes first
LONGEST = 40  # characters of a name


def kept() -> dict[str, Any]:
    """The lists of edits by name."""
    return st.session_state.setdefault(KEPT, {})


def draw(listed: Any, become: Callable[[Any], None]) -> None:
    """Draws the kept runs, and the entry that keeps the present one.

    Args:
        listed: the edits of now.
        become: makes a list of edits the present one.
    """
    for number, (name, each) in enumerate(kept().items()):
        key = f"{PAGE}_edits_run_{number}"
        label, action = shared.plain(name), partial(become, each)
        controls.button(label, key, action, chosen=each == listed, help="Show this run")
    with st.popover("Keep …", key=f"{PAGE}_edits_keep", disabled=not (listed.edits or kept())):
        st.text_input("Name of this run", key=f"{PAGE}_edits_name", max_chars=LONGEST)
        controls.button("Keep this run", f"{PAGE}_edits_keep_this", partial(_keep, listed))
        if kept():
            controls.button("Forget all runs", f"{PAGE}_edits_forget", kept().clear)


def _keep(listed: Any) -> None:
    """Keeps a list of edits under the typed name, or the first free number."""
    runs = kept()
    typed = str(st.session_state.get(f"{PAGE}_edits_name") or "").strip()
    free = (f"Run {number}" for number in range(1, MOST + 2))
    name = typed or next(each for each in free if each not in runs)
    runs.pop(name, None)
    runs[name] = listed
    while len(runs) > MOST:
        del runs[next(iter(runs))]
