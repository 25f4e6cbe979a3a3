"""Course: the map of the transformer, and the lessons attached to its parts."""

import streamlit as st

from viz import course
from viz.course.reading import Lesson
from viz.pages import shared
from viz.pages.lessons import page as lessons
from viz.pages.state import link_on_entry
from viz.pages.widgets import attention

PAGE = "course"
PLAN = (
    "For each lesson its aim, what to show, one question with the right answer in bold, and the"
    " misreading to watch for. Lessons 1 to 5 fill a double period.\n"
)
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
    lessons.course_map("", key="course_map")
    _plan()
    attention.address(PAGE, ())


def _plan() -> None:
    """The lesson plan for teachers."""
    box = st.expander("Lesson plan for teachers", key="course_plan", on_change="rerun")
    if box.open:
        box.markdown("\n".join([PLAN, *map(_planned, course.COURSE)]))


def _planned(lesson: Lesson) -> str:
    """The plan of one lesson in Markdown."""
    plan, misreading = lesson.plan, lesson.misreading
    return (
        f"#### {course.number(lesson.name)} · {lesson.title} ({lesson.minutes} min)\n"
        f"- **Aim:** {plan.aim}\n- **Show:** {plan.show}\n- **Ask:** {plan.ask}\n"
        f"- **Misreading:** {misreading.wrong} {misreading.right}\n"
    )
