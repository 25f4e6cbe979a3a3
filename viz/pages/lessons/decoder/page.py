"""The decoder: masks, and writing a token at a time."""

import streamlit as st

from viz.pages.lessons import frame
from viz.pages.lessons.decoder import lesson as decoder


@st.fragment
def page() -> None:
    with frame.lesson(decoder.NAME, decoder.PARAMS):
        decoder.draw()


frame.arrive(decoder.NAME)
page()
