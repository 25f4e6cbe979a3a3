"""Soft dictionary: attention as a look-up that may answer with a mixture."""

import streamlit as st

from viz.pages.lesson import dictionary, frame


@st.fragment
def page() -> None:
    with frame.lesson(dictionary.NAME, dictionary.PARAMS):
        dictionary.draw()


frame.arrive(dictionary.NAME)
page()
