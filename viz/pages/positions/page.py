"""Positions: where order comes from, scheme by scheme."""

import streamlit as st
from headscope_views import view as mounted

from viz.pages import shared
from viz.pages.positions import texts, views
from viz.pages.positions.controls import PAGE, PARAMS, SCHEMES, VIEWS, choose
from viz.pages.state import link_on_entry, session
from viz.pages.widgets import attention, charts


def page() -> None:
    """Draws the page."""
    problems = link_on_entry.enter(PAGE, PARAMS, frozenset()).problems
    st.markdown("#### Where does order come from?")
    for problem in problems:
        shared.error_line(problem)
    encoding, row = choose()
    view = session.get(PAGE, "view")
    st.markdown(texts.shows(encoding.scheme, view))
    if texts.picking(view):
        st.caption(texts.picking(view))
    try:
        note = texts.not_proved(encoding.scheme, view)
        name = f"{SCHEMES[encoding.scheme]} positions: {VIEWS[view].lower()}"
        with charts.saved(PAGE, "view", name), st.spinner("Computing …"):
            views.draw(encoding, view, row)
        st.caption(note)
    except ValueError as error:
        shared.error_line(error)
    mounted("mode", {}, key=f"{PAGE}_mode")
    attention.address(PAGE, PARAMS)
