"""A page's settings: kept in the session, read from the link and written back to it."""

from collections.abc import Iterable

import streamlit as st

from viz import link


def from_link(page: str, params: Iterable[link.Param]) -> list[str]:
    """Puts the link's settings where the page's widgets find them, when the link is new.

    Returns:
        One line for each thing in the link that makes no sense, until a setting is changed, and
        for each long text that it stands for, until that text is there.
    """
    params, query, state = tuple(params), dict(st.query_params), st.session_state
    if state.get(f"{page}_link") != query:
        values, problems = link.read(params, query)
        for name, value in values.items():
            state[f"{page}_{name}"] = value
        state[f"{page}_link"], state[f"{page}_problems"] = query, problems
        state[f"{page}_wanted"] = link.wanted(params, query)
    elif _written(page, params) != state[f"{page}_settled"]:
        state[f"{page}_problems"] = []
    missing = [
        f"This link was made with a text too long for a link (SHA-256 {wanted[:12]}…):"
        " paste that text to see the same picture."
        for name, wanted in state[f"{page}_wanted"].items()
        if link.digest(state[f"{page}_{name}"]) != wanted
    ]
    return state[f"{page}_problems"] + missing


def to_link(page: str, params: Iterable[link.Param]) -> None:
    """Writes the page's settings into the address bar."""
    query = _written(page, params)
    if dict(st.query_params) != query:
        st.query_params.from_dict(query)
    st.session_state[f"{page}_link"] = st.session_state[f"{page}_settled"] = query


def _written(page: str, params: Iterable[link.Param]) -> dict[str, str]:
    return link.write(params, {p.name: st.session_state[f"{page}_{p.name}"] for p in params})
