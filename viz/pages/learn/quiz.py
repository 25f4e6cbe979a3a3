"""Quiz: questions about numbers on the screen, and exercises to write."""

import streamlit as st

from viz.pages.lesson import frame, quiz


@st.fragment
def page() -> None:
    with frame.lesson(quiz.NAME, quiz.PARAMS):
        quiz.draw()


frame.arrive(quiz.NAME)
page()
