"""Soft dictionary: attention as a look-up that may answer with a mixture."""

import streamlit as st

from viz.pages.lessons import frame
from viz.pages.lessons.dictionary import lesson as dictionary


@st.fragment
def page() -> None:
    with frame.lesson(dictionary.NAME, dictionary.PARAMS):
        dictionary.draw()


frame.arrive(dictionary.NAME)
page()
