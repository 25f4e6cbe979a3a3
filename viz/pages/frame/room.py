"""The teacher's room: one person presents lessons, others follow (see assets/room/room.js)."""

import streamlit as st
from headscope_views import view

from viz.api import room
from viz.pages.frame import registry
from viz.pages.state import link_on_entry


def draw(current: registry.Entry) -> None:
    """Draws the control of the room in the bar, if this server has rooms."""
    if not room.is_open():
        return
    lessons = [{"name": each.name, "title": each.title} for each in registry.LESSONS]
    props = {"page": current.name, "lessons": lessons, "code": link_on_entry.room_code()}
    view("room", props, key="frame_room", width="content")
    # not displayed: the browser's part presses them
    with st.container(key="frame_room_links", width="content"):
        for each in registry.LESSONS:
            st.page_link(registry.page(each.name), label=each.title)
