"""The bar above every page: navigation, and the menu."""

import streamlit as st

from viz.pages.frame import menu, registry, room


def draw(current: registry.Entry) -> None:
    """Draws the bar, with the section of the current page marked."""
    with st.container(key="frame_bar", horizontal=True, gap="small", vertical_alignment="center"):
        for entry in registry.BAR:
            here = entry.name == current.part_of
            with st.container(key="frame_here" if here else f"frame_{entry.name}", width="content"):
                st.page_link(registry.page(entry.name), label=entry.title)
        st.space("stretch")
        room.draw(current)
        menu.draw()
