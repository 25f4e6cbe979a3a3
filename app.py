"""The app's frame: page settings, what all pages share, and the way to each page."""

import streamlit as st

from viz.pages import shared
from viz.pages.lesson import course, edge

st.set_page_config(
    page_title="Headscope",
    page_icon="viz/icon.svg",
    layout="wide",
    initial_sidebar_state="collapsed",
)
st.logo("viz/icon.svg", size="medium")
shared.frame()
TITLES = {lesson.name: lesson.title for lesson in course.lessons()}
ICONS = {
    "explore": {"text": "notes", "image": "image", "models": "deployed_code", "positions": "tag"},
    "learn": {lesson.name: lesson.icon for lesson in course.lessons()},
    "lab": {"architecture": "account_tree"},
}
pages = {
    section.capitalize(): [
        st.Page(
            f"viz/pages/{section}/{name}.py",
            title=TITLES.get(name, name.capitalize()),
            icon=f":material/{icon}:",
            url_path=name,
            default=name == "text",
        )
        for name, icon in icons.items()
    ]
    for section, icons in ICONS.items()
}
page = st.navigation(pages, position="top")
edge.way_back(page.url_path)
page.run()
shared.sidebar()
