"""Positions: where order comes from, scheme by scheme."""

import streamlit as st

from viz.pages import settings, shared
from viz.pages.positions import charts as position_charts
from viz.pages.positions import controls as position_controls
from viz.pages.positions import texts as position_texts
from viz.pages.positions import views as position_views

PAGE = position_controls.PAGE


@st.fragment
def page() -> None:
    with st.container(gap="small"):
        _page()


def _page() -> None:
    problems = settings.from_link(PAGE, position_controls.PARAMS)
    st.markdown("#### Where does order come from?")
    for problem in problems:
        shared.error_line(problem)
    encoding, row = position_controls.choose()
    view = st.session_state[f"{PAGE}_view"]
    st.markdown(position_texts.shows(encoding.scheme, view))
    try:
        with st.spinner("Working it out …"):
            position_views.draw(encoding, view, row)
        st.caption(position_texts.not_proved(encoding.scheme, view))
    except ValueError as error:
        shared.error_line(error)
    position_charts.follow_mode()
    settings.tell(PAGE)
    settings.to_link(PAGE, position_controls.PARAMS)


page()
