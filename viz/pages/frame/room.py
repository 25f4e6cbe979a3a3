"""The teacher's room: one person presents lessons, others follow (see assets/lessons/room.js)."""

import streamlit as st

from viz.api import room
from viz.pages.frame import registry
from viz.pages.state import session


def draw(current: registry.Entry) -> None:
    """Draws the control of the room in the bar, if this server has rooms."""
    if not room.is_open():
        return
    from headscope_views import view

    lessons = [{"name": each.name, "title": each.title} for each in registry.LESSONS]
    props = {"page": current.name, "lessons": lessons, "code": session.room_code()}
    view("room", props, key="frame_room", width="content")
    with st.container(key="frame_room_links"):  # the browser's part follows them; not displayed
        for each in registry.LESSONS:
            with st.container(key=f"frame_room_to_{each.name}"):
                st.page_link(registry.page(each.name), label=each.title)
