"""Whole words instead of tokens, and special tokens out of the way: how a trace is seen."""

from dataclasses import replace
from typing import Any

import streamlit as st

from viz import link
from viz.pages import controls
from viz.pages.shared import Traced

WHOLE = {"no": "Tokens", "yes": "Whole words"}
SPECIAL = {"shown": "Shown", "hidden": "Hidden", "renormalised": "Hidden, rows sum to 1"}
PARAMS = (link.choice("words", "no", WHOLE), link.choice("special", "shown", SPECIAL))


def choose(page: str) -> None:
    """The two choices, folded away."""
    with st.popover("Words", key=f"{page}_words_box"):
        told = "A word that is several tokens: what they are given is summed, what they give is"
        controls.choice(page, "words", "Show", WHOLE, f"{told} averaged")
        told = "[CLS], [SEP] and the like. Hidden: a row sums to what it gives to the others"
        controls.choice(page, "special", "Special tokens", SPECIAL, told)


def seen(page: str, found: Traced) -> Traced:
    """The trace as it was asked to be seen; the chosen token stays the same one."""
    state = st.session_state
    how = (state[f"{page}_words"] == "yes", state[f"{page}_special"])
    now = found if how == (False, "shown") else _viewed(found.identity, *how, found)
    before = state.get(f"{page}_seen_as")
    if before is not None and before[0] == found.identity and before[1] != how:
        _follow(page, found, before[1], now)
    state[f"{page}_seen_as"] = found.identity, how
    return now


def by_token(found: Traced, select: dict[str, Any]) -> dict[str, Any]:
    """What is chosen, by the number of its token rather than of its word."""
    if found.view is None or select["token"] is None:
        return select
    site = found.trace.sites[select["site"]]
    token = found.view.token(site, select["direction"], select["token"])
    return {**select, "token": token}


@st.cache_resource(max_entries=24, show_spinner=False)
def _viewed(identity: str, words: bool, special: Any, _found: Traced) -> Traced:
    from analysis.view import View
    from viz.pages.answers import thumbs

    view = View(_found.trace, words, special)
    name = f"{identity}{'w' * words}{special[0]}"
    return replace(_found, identity=name, thumbs=thumbs(view), view=view)


def _follow(page: str, found: Traced, before: tuple[bool, Any], now: Traced) -> None:
    """Renumbers the chosen token after the numbers changed."""
    from viz.pages import explorer

    state = st.session_state
    old = found if before == (False, "shown") else _viewed(found.identity, *before, found)
    select = by_token(old, explorer.selection(page, old.shown))
    if select["token"] is None:
        return
    if now.view is not None:
        site = found.trace.sites[select["site"]]
        select["token"] = now.view.word(site, select["direction"], select["token"])
    state[f"{page}_token"] = select["token"]
    explorer.overrule(page)
