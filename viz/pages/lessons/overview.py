"""Course: the map of the transformer, and the lessons attached to its parts."""

import streamlit as st

from viz.pages import shared
from viz.pages.lessons import course, frame
from viz.pages.state import link_on_entry
from viz.pages.widgets import attention

PAGE = "course"
PLAN = shared.ROOT / "docs" / "teaching.md"
ABOUT = (
    "{lessons} short lessons with live numbers, from “Why attention?” to a vision transformer:"
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
    frame.course_map("", key="course_map")
    _plan()
    attention.address(PAGE, ())


def _plan() -> None:
    """The lesson plan for teachers; read when it is opened."""
    box = st.expander("Lesson plan for teachers", key="course_plan", on_change="rerun")
    if box.open:
        _, _, plan = PLAN.read_text(encoding="utf-8").partition("\n")  # without its title
        box.markdown(plan)
