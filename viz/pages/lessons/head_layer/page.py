"""The head layer: from a vector to probabilities, and how wrong they are."""

import streamlit as st

from viz.pages.lessons import frame
from viz.pages.lessons.head_layer import lesson as head_layer


@st.fragment
def page() -> None:
    with frame.lesson(head_layer.NAME, head_layer.PARAMS):
        head_layer.draw()


frame.arrive(head_layer.NAME)
page()
