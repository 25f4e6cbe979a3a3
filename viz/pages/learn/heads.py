"""Many heads: several attentions side by side, and what each of a trained model's does."""

import streamlit as st

from viz.pages.lesson import frame, heads


@st.fragment
def page() -> None:
    with frame.lesson(heads.NAME, heads.PARAMS):
        heads.draw()


frame.arrive(heads.NAME)
page()
