"""Many heads: several attentions side by side, and what each of a trained model's does."""

import streamlit as st

from viz.pages.lessons import frame
from viz.pages.lessons.heads import lesson as heads


@st.fragment
def page() -> None:
    with frame.lesson(heads.NAME, heads.PARAMS):
        heads.draw()


frame.arrive(heads.NAME)
page()
