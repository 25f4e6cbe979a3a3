"""The bar above every page: name, sections, device, present mode, and the link to what is shown;
below it the way back to the last lesson."""

import streamlit as st
from headscope_views import view
from streamlit.delta_generator import DeltaGenerator

from viz import course
from viz.pages import compute
from viz.pages.frame import registry
from viz.pages.shared import cold
from viz.pages.state import session
from viz.pages.state.session import APP, app
from viz.pages.widgets import controls


def place() -> DeltaGenerator:
    """The container of the bar."""
    return st.container(key="frame_bar", horizontal=True, gap="small", vertical_alignment="center")


def draw(current: registry.Entry, place: DeltaGenerator) -> None:
    """Draws the bar in its container, with the section of the current page marked."""
    with place:
        with st.container(key="frame_home", width="content"):
            st.markdown("Headscope", width="content")
        for entry in registry.BAR:
            here = entry.name == current.part_of
            with st.container(key="frame_here" if here else f"frame_{entry.name}", width="content"):
                st.page_link(registry.page(entry.name), label=entry.section)
        st.space("stretch")
        device()
        in_course = current.part_of == registry.COURSE  # where each lesson presents its figure
        presents = app("projector") == "yes" and not in_course
        help = "Input, picture and one caption, large enough for the back row"
        turned = {"projector": "no" if presents else "yes"}
        if not in_course:
            action = session.assign, APP, turned
            controls.button("Present", "frame_present", *action, chosen=presents, help=help)
        view("copy", {"label": "Copy link"}, key="frame_copy", width="content")
        if presents:  # in the bar: an element beside it would move the view, which mounts it anew
            with st.container(key="frame_projector", width="content"):
                st.html("<span></span>")  # which enlarges the type; an empty one is not drawn


def device() -> None:
    """A choice of device, if this machine is known to have more than one."""
    if cold():
        return
    names = compute.devices()
    if len(names) > 1:
        titles = {name: name.upper() for name in names}
        help = "What the models run on"
        controls.choice(APP, "device", "Device", titles, help, collapsed=True)


def way_back(name: str) -> None:
    """On pages that are no lessons: a link to the last one, in the state in which it was left."""
    last = st.session_state.get("lesson/last")
    if last is None or course.find(name) is not None:
        return
    label = f"Back to the lesson “{course.lesson(last).title}”"
    with st.container(key="lesson_return"):
        st.page_link(registry.page(last), label=label, icon=":material/arrow_back:")
