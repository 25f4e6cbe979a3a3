"""Encoder and decoder together: three kinds of attention, sharing, and why not recurrence."""

import streamlit as st

from viz.pages.lesson import both, frame


@st.fragment
def page() -> None:
    with frame.lesson(both.NAME, both.PARAMS):
        both.draw()


frame.arrive(both.NAME)
page()
