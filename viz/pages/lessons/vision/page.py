"""The vision transformer in six steps."""

import streamlit as st

from viz.pages.lessons import frame
from viz.pages.lessons.vision import lesson as vision


@st.fragment
def page() -> None:
    with frame.lesson(vision.NAME, vision.PARAMS):
        vision.draw()


frame.arrive(vision.NAME)
page()
