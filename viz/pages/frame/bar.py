"""The bar above every page: the app's name, navigation, and the menu."""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from viz.pages.frame import menu, registry
from viz.pages.state import session


def place() -> DeltaGenerator:
    """The container of the bar."""
    return st.container(key="frame_bar", horizontal=True, gap="small", vertical_alignment="center")


def draw(current: registry.Entry, place: DeltaGenerator) -> None:
    """Draws the bar in its container, with the section of the current page marked."""
    with place:
        st.button(
            "Headscope",
            key="frame_home",
            type="tertiary",
            help="Where to begin: cards of what can be seen here",
            on_click=session.callback(session.go_home),
            args=(registry.FIRST,),
        )
        for entry in registry.BAR:
            here = entry.name == current.part_of
            with st.container(key="frame_here" if here else f"frame_{entry.name}", width="content"):
                st.page_link(registry.page(entry.name), label=entry.title)
        st.space("stretch")
        menu.draw()
