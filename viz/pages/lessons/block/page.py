"""The encoder block: residual connections, norms and the feed-forward network."""

import streamlit as st

from viz.pages.lessons import frame
from viz.pages.lessons.block import lesson as block


@st.fragment
def page() -> None:
    with frame.lesson(block.NAME, block.PARAMS):
        block.draw()


frame.arrive(block.NAME)
page()
