"""Scale and softmax: why scores are divided by √d."""

import streamlit as st

from viz.pages.lesson import frame, scale


@st.fragment
def page() -> None:
    with frame.lesson(scale.NAME, scale.PARAMS):
        scale.draw()


frame.arrive(scale.NAME)
page()
