"""Self-attention by hand: two words look at each other."""

import streamlit as st

from viz.pages.lessons import frame
from viz.pages.lessons.by_hand import lesson as by_hand


@st.fragment
def page() -> None:
    with frame.lesson(by_hand.NAME, by_hand.PARAMS):
        by_hand.draw()


frame.arrive(by_hand.NAME)
page()
