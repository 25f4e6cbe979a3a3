"""Quiz: questions about numbers on the screen, and exercises to write."""

import streamlit as st

from viz.pages.lessons import frame
from viz.pages.lessons.quiz import lesson as quiz


@st.fragment
def page() -> None:
    with frame.lesson(quiz.NAME, quiz.PARAMS):
        quiz.draw()


frame.arrive(quiz.NAME)
page()
