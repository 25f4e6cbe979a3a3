"""The vision transformer in six steps."""

import streamlit as st

from viz.pages.lesson import frame, vision


@st.fragment
def page() -> None:
    with frame.lesson(vision.NAME, vision.PARAMS):
        vision.draw()


frame.arrive(vision.NAME)
page()
