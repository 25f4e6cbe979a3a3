"""Course: the lessons in order, each with its topic."""

import streamlit as st

from viz.pages import shared
from viz.pages.frame import registry
from viz.pages.lessons import course
from viz.pages.state import session
from viz.pages.widgets import attention

PAGE = "course"


def page() -> None:
    """Draws the page."""
    problems = session.enter(PAGE, ()).problems
    st.markdown("#### How does a transformer work?")
    for problem in problems:
        shared.error_line(problem)
    st.markdown(
        "Twelve short lessons with live numbers, from a soft dictionary to a vision transformer."
        " Each stands alone; together they take an afternoon."
    )
    with st.container(key="course_lessons", gap="small"):
        for number, lesson in enumerate(course.COURSE, 1):
            with st.container(key=f"course_{lesson.name}", gap=None):
                st.page_link(
                    registry.page(lesson.name),
                    label=f"{number} · {lesson.title}",
                    icon=f":material/{lesson.icon}:",
                )
                st.caption(lesson.line)
    attention.address(PAGE, ())
