"""Position: where order comes from, and what happens without it."""

import streamlit as st

from viz.pages.lessons import frame
from viz.pages.lessons.position import lesson as position


@st.fragment
def page() -> None:
    with frame.lesson(position.NAME, position.PARAMS):
        position.draw()


frame.arrive(position.NAME)
page()
