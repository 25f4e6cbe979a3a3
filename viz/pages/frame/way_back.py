"""The way back from another page to the last lesson."""

import streamlit as st

from viz import course
from viz.pages.frame import registry


def draw(name: str) -> None:
    """On other pages: a link back to the last lesson, in the state in which it was left."""
    last = st.session_state.get("lesson/last")
    if last is None or course.find(name) is not None:
        return
    label = f"Back to the lesson “{course.lesson(last).title}”"
    with st.container(key="lesson_return"):
        st.page_link(registry.page(last), label=label, icon=":material/arrow_back:")
