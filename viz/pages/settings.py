"""A page's settings: kept in the session, read from the link and written back to it.

The browser runs behind the session: a click that was on its way while settings were given other
values still carries the old address, and the old values of all controls. So an address that was
replaced moments ago is no news, and neither are the values that come with it.
"""

import time
from collections.abc import Iterable, Mapping
from typing import Any

import streamlit as st

from viz import link

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
        state[f"{page}_link"] = (
            query  # it stays in the address bar until the page has written its own
        )
    if _is_news(page, query):
        values, problems = link.read(params, query)
        for name, value in values.items():
            state[f"{page}_{name}"] = value
        state[f"{page}_link"], state[f"{page}_problems"] = query, problems
        state[f"{page}_said"] = []
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
        begun = replaced[-1][2] if replaced else 0.0
        replaced.append((before, begun, time.monotonic()))
        del replaced[:-KEPT]
    if dict(st.query_params) != query:
        st.query_params.from_dict(query)
    state[f"{page}_link"] = state[f"{page}_settled"] = query


def say(page: str, values: Mapping[str, Any]) -> None:
    """Gives settings other values than their controls have in the browser, as a callback does."""
    state = st.session_state
    before = {name: state.get(f"{page}_{name}") for name in values}
    said = state.setdefault(f"{page}_said", [])
    said.append((time.monotonic(), before, dict(values)))
    del said[:-KEPT]
    for name, value in values.items():
        state[f"{page}_{name}"] = value


def hear(page: str) -> set[str]:
    """Puts back what the browser undid because it had not heard of it yet.

    To be called where a fragment begins, and in a callback before it reads other settings.

    Returns:
        The names of the settings that were put back.
    """
    state, back = st.session_state, set[str]()
    since = _stood_since(page, dict(st.query_params))
    for when, before, after in state.get(f"{page}_said", ()):
        if since is None or when < since:
            continue
        for name, value in after.items():
            key = f"{page}_{name}"
            if value != before[name] and state.get(key) == before[name]:
                state[key] = value
                back.add(name)
    return back


def controls(page: str, params: Iterable[link.Param]) -> dict[str, Any]:
    """The settings that a page's controls choose, rather than its view."""
    return {p.name: st.session_state[f"{page}_{p.name}"] for p in params if p.name not in VIEWED}


def keep_up(page: str, params: Iterable[link.Param], drawn: Mapping[str, Any]) -> None:
    """Draws everything anew where a view was drawn for other settings than those of now.

    To be called where the view's fragment begins. Of what changes in the browser at once, Streamlit
    1.67 runs one fragment: a control that moves just as the view speaks is only heard of here.

    Args:
        page: whose view it is.
        params: the page's settings.
        drawn: what the controls said when the view was drawn.
    """
    hear(page)
    if controls(page, params) != drawn:
        to_link(page, params)  # what comes from now on with the old address is late
        st.rerun()


def _is_back(page: str, query: dict[str, str]) -> bool:
    """Whether the user comes from another page through the menu, whose addresses say nothing."""
    state = st.session_state
    return not query and f"{page}_link" in state and state.get("settings_page") != page


def _is_news(page: str, query: dict[str, str]) -> bool:
    """Whether this address came from outside, rather than from the page itself, perhaps late."""
    return st.session_state.get(f"{page}_link") != query and _stood_since(page, query) is None


def _stood_since(page: str, query: dict[str, str]) -> float | None:
    """When the page wrote an address that it replaced moments ago; None for any other address."""
    state, now = st.session_state, time.monotonic()
    if state.get(f"{page}_link") == query:
        return None
    replaced = state.get(f"{page}_replaced", ())
    fresh = (begun for old, begun, ended in replaced if old == query and now - ended < LATE)
    return next(fresh, None)


def written(page: str, params: Iterable[link.Param]) -> dict[str, str]:
    """The page's settings as its link says them: those that differ from their default."""
    return link.write(params, {p.name: st.session_state[f"{page}_{p.name}"] for p in params})
