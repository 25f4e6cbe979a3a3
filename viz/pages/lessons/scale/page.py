"""Scale and softmax: why scores are divided by √d."""

import streamlit as st

from viz.pages.lessons import frame
from viz.pages.lessons.scale import lesson as scale


@st.fragment
def page() -> None:
    with frame.lesson(scale.NAME, scale.PARAMS):
        scale.draw()


frame.arrive(scale.NAME)
page()
