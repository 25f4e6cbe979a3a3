"""A page's settings: kept in the session, read from the link and written back to it.

The link runs behind the session: a click that was on its way while the address bar changed still
carries the old address. So an address that was replaced moments ago is no news.
"""

import time
from collections.abc import Iterable

import streamlit as st

from viz import link

LATE = 5.0  # seconds for which a replaced address may still come in


def from_link(page: str, params: Iterable[link.Param]) -> list[str]:
    """Puts the link's settings where the page's widgets find them, when the link is new.

    Returns:
        One line for each thing in the link that makes no sense, until a setting is changed, and
        for each long text that it stands for, until that text is there.
    """
    params, query, state = tuple(params), dict(st.query_params), st.session_state
    if _is_news(page, query) and not _is_back(page, query):
        values, problems = link.read(params, query)
        for name, value in values.items():
            state[f"{page}_{name}"] = value
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
        del replaced[:-50]
    if dict(st.query_params) != query:
        st.query_params.from_dict(query)
    state[f"{page}_link"] = state[f"{page}_settled"] = query


def _is_back(page: str, query: dict[str, str]) -> bool:
    """Whether the user comes from another page through the menu, whose addresses say nothing."""
    state = st.session_state
    return not query and f"{page}_link" in state and state.get("settings_page") != page


def _is_news(page: str, query: dict[str, str]) -> bool:
    """Whether this address came from outside, rather than from the page itself, perhaps late."""
    state, now = st.session_state, time.monotonic()
    if state.get(f"{page}_link") == query:
        return False
    replaced = state.get(f"{page}_replaced", ())
    return not any(old == query and now - when < LATE for old, when in replaced)


def written(page: str, params: Iterable[link.Param]) -> dict[str, str]:
    """The page's settings as its link says them: those that differ from their default."""
    return link.write(params, {p.name: st.session_state[f"{page}_{p.name}"] for p in params})
