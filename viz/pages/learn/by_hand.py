"""Self-attention by hand: two words look at each other."""

import streamlit as st

from viz.pages.lesson import by_hand, frame


@st.fragment
def page() -> None:
    with frame.lesson(by_hand.NAME, by_hand.PARAMS):
        by_hand.draw()


frame.arrive(by_hand.NAME)
page()
