"""Encoder and decoder together: three kinds of attention, sharing, and why not recurrence."""

import streamlit as st

from viz.pages.lessons import frame
from viz.pages.lessons.both import lesson as both


@st.fragment
def page() -> None:
    with frame.lesson(both.NAME, both.PARAMS):
        both.draw()


frame.arrive(both.NAME)
page()
