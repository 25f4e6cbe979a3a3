"""Course: the map of the transformer, and the lessons attached to its parts."""

import streamlit as st

from viz.pages import shared
from viz.pages.frame import registry
from viz.pages.lessons import course, frame
from viz.pages.state import link_on_entry
from viz.pages.widgets import attention

PAGE = "course"
PLAN = shared.ROOT / "docs" / "teaching.md"
ABOUT = (
    "{lessons} short lessons with live numbers, from the question why to a vision transformer:"
    " about {minutes} minutes each, {hours} hours in all."
)


def page() -> None:
    """Draws the page."""
    problems = link_on_entry.enter(PAGE, ()).problems
    st.markdown("#### How does a transformer work?")
    for problem in problems:
        shared.error_line(problem)
    count, minutes = len(course.COURSE), course.minutes()
    st.markdown(
        ABOUT.format(lessons=count, minutes=round(minutes / count), hours=round(minutes / 60))
    )
    _start()
    frame.course_map("", key="course_map")
    _plan()
    attention.address(PAGE, ())


def _start() -> None:
    """Where to begin, or where to go on: the lesson that was open last."""
    last = st.session_state.get("lesson/last")
    lesson = course.COURSE[0] if last is None else course.lesson(last)
    word = "Start with" if last is None else "Continue where you left off:"
    number = course.number(lesson.name)
    with st.container(key="course_start", width="content"):
        st.page_link(
            registry.page(lesson.name),
            label=f"{word} lesson {number}, {lesson.title} ({lesson.minutes} min)",
            icon=":material/arrow_forward:",
            icon_position="right",
        )


def _plan() -> None:
    """The lesson plan for teachers; read when it is opened."""
    box = st.expander("Lesson plan for teachers", key="course_plan", on_change="rerun")
    if box.open:
        _, _, plan = PLAN.read_text(encoding="utf-8").partition("\n")  # without its title
        box.markdown(plan)
