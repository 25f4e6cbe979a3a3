"""A page's settings: kept in the session, read from the link and written back to it.

The browser runs behind the session: a click that was on its way while settings were given other
values still carries the old values of all controls, and perhaps the old address. So an address that
was replaced moments ago is no news. And each time settings are given other values is numbered: a
control that nobody sees carries the number of the last one the browser has heard of, and what comes
with an older number is put back.
"""

import time
from collections.abc import Iterable, Mapping
from typing import Any

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from viz.pages.state import params as link

LATE = 5.0  # seconds for which a replaced address may still come in
VIEWED = {"layer", "attention", "tower", "head", "token", "direction", "scale"}  # chosen in a view
KEPT = 50  # replaced addresses and changes of settings that are remembered


def from_link(page: str, params: Iterable[link.Param]) -> list[str]:
    """Puts the link's settings where the page's widgets find them, when the link is new.

    Returns:
        One line for each thing in the link that makes no sense, until a setting is changed, and
        for each long text that it stands for, until that text is there.
    """
    hear(page)
    params, query, state = tuple(params), dict(st.query_params), st.session_state
    if _is_back(page, query):
        # this address stays in the bar until the page has written its own
        state[f"{page}_link"] = query
    if _is_news(page, query):
        values, problems = link.read(params, query)
        say(page, values)
        state[f"{page}_link"], state[f"{page}_problems"] = query, problems
        state[f"{page}_wanted"] = link.wanted(params, query)
        state[f"{page}_settled"] = written(page, params)
    elif written(page, params) != state[f"{page}_settled"]:
        state[f"{page}_problems"] = []
    missing = [
        f"This link was made with a text too long for a link (SHA-256 {wanted[:12]}…):"
        " paste that text to see the same picture."
        for name, wanted in state[f"{page}_wanted"].items()
        if link.digest(state[f"{page}_{name}"]) != wanted
    ]
    state["settings_page"] = page
    return state[f"{page}_problems"] + missing


def to_link(page: str, params: Iterable[link.Param]) -> None:
    """Writes the page's settings into the address bar."""
    query, state = written(page, params), st.session_state
    before = state[f"{page}_link"]
    if before != query:
        replaced = state.setdefault(f"{page}_replaced", [])
        replaced.append((before, time.monotonic()))
        del replaced[:-KEPT]
    if dict(st.query_params) != query:
        st.query_params.from_dict(query)
    state[f"{page}_link"] = state[f"{page}_settled"] = query


def say(page: str, values: Mapping[str, Any]) -> None:
    """Gives settings other values than their controls have in the browser, as a callback does."""
    state = st.session_state
    number = state[f"{page}_number"] = state.get(f"{page}_number", 0) + 1
    before = {name: state[f"{page}_{name}"] for name in values if f"{page}_{name}" in state}
    said = state.setdefault(f"{page}_said", [])
    said.append((number, before, dict(values)))
    del said[:-KEPT]
    for name, value in values.items():
        state[f"{page}_{name}"] = value


def tell(page: str) -> None:
    """Tells the browser how many times settings were given other values.

    To be called once on a page, after all of its controls, in what is drawn anew whenever `say`
    was called.
    """
    state, key = st.session_state, f"{page}_unseen"  # a class that shared.STYLE hides
    state[key] = str(state.get(f"{page}_number", 0))
    st.text_input("Heard of", key=key, persist_state="session")


def hear(page: str) -> set[str]:
    """Puts back what the browser undid because it had not heard of it yet.

    To be called where a fragment begins, and in a callback before it reads other settings.

    Returns:
        The names of the settings that were put back.
    """
    state, back = st.session_state, set[str]()
    told = str(state.get(f"{page}_unseen", 0))
    heard = int(told) if told.isdecimal() else 0
    for number, before, after in state.get(f"{page}_said", ()):
        if number <= heard:
            continue
        for name, value in before.items():
            key = f"{page}_{name}"
            if after[name] != value and state.get(key) == value:
                state[key] = after[name]
                back.add(name)
    return back


def controls(page: str, params: Iterable[link.Param]) -> dict[str, Any]:
    """The settings that a page's controls choose, rather than its view, and those of all pages."""
    state = st.session_state
    chosen = {p.name: state[f"{page}_{p.name}"] for p in params if p.name not in VIEWED}
    everywhere = state.get("device", "cpu"), bool(state.get("projector"))
    return chosen | {"everywhere": everywhere}


def keep_up(
    page: str, params: Iterable[link.Param], drawn: Mapping[str, Any], *, dropped: bool = False
) -> None:
    """Draws everything anew where a view was drawn for other settings than those of now.

    To be called where the view's fragment begins. Of what changes in the browser at once, Streamlit
    1.67 runs one fragment: a control that moves just as the view speaks is only heard of here.

    Args:
        page: whose view it is.
        params: the page's settings.
        drawn: what the controls said when the view was drawn.
        dropped: whether a file was dropped since.
    """
    hear(page)
    if dropped or controls(page, params) != drawn:
        st.rerun()


def _is_back(page: str, query: dict[str, str]) -> bool:
    """Whether the user comes from another page through the menu, whose addresses say nothing."""
    state = st.session_state
    return not query and f"{page}_link" in state and state.get("settings_page") != page


def _is_news(page: str, query: dict[str, str]) -> bool:
    """Whether this address came from outside, rather than from the page itself, perhaps late."""
    state = st.session_state
    if state.get(f"{page}_link") == query:
        return False
    context = get_script_run_ctx()
    if context is not None and context.is_history_navigation:
        return True  # the browser's Back or Forward
    now, replaced = time.monotonic(), state.get(f"{page}_replaced", ())
    return not any(old == query and now - ended < LATE for old, ended in replaced)


def written(page: str, params: Iterable[link.Param]) -> dict[str, str]:
    """The page's settings as its link says them: those that differ from their default."""
    return link.write(params, {p.name: st.session_state[f"{page}_{p.name}"] for p in params})
