"""Query, key, value: three roles for every word, and something to learn."""

import streamlit as st

from viz.pages.lessons import frame
from viz.pages.lessons.query_key_value import lesson as query_key_value


@st.fragment
def page() -> None:
    with frame.lesson(query_key_value.NAME, query_key_value.PARAMS):
        query_key_value.draw()


frame.arrive(query_key_value.NAME)
page()
