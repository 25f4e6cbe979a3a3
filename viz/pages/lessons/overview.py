"""Course: three doors to the lessons."""

import streamlit as st
from headscope_views import view

from viz import course
from viz.course import prose
from viz.pages import shared
from viz.pages.lessons import page as lessons
from viz.pages.state import link_on_entry
from viz.pages.widgets import attention

PAGE = "course"


def page() -> None:
    """Draws the page."""
    problems = link_on_entry.enter(PAGE, ()).problems
    st.markdown("#### How does a transformer work?")
    for problem in problems:
        shared.error_line(problem)
    plans = {
        each.name: {
            term: prose.parts(text)
            for term, text in {**each.plan, "misreading": " ".join(each.misreading)}.items()
        }
        for each in course.COURSE
    }
    view("doors", {**lessons.listed(), "plans": plans}, key="course_doors")
    lessons.links()
    attention.address(PAGE, ())
