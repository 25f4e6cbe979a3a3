"""The decoder: masks, and writing a token at a time."""

import streamlit as st

from viz.pages.lesson import decoder, frame


@st.fragment
def page() -> None:
    with frame.lesson(decoder.NAME, decoder.PARAMS):
        decoder.draw()


frame.arrive(decoder.NAME)
page()
