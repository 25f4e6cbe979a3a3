"""The pages of the app, by name."""

from collections.abc import Callable
from importlib import import_module

import streamlit as st
from streamlit.navigation.page import Page

from viz.pages.lessons import course

ICONS = {
    "text": "notes",
    "image": "image",
    "models": "deployed_code",
    "positions": "tag",
    "architecture": "account_tree",
}


def pages() -> dict[str, Page]:
    """Every page by its name, which is also its address; made anew in each run."""
    found = {
        name: st.Page(
            _page(f"viz.pages.{name}.page"),
            title=name.capitalize(),
            icon=f":material/{icon}:",
            url_path=name,
            default=name == "text",
        )
        for name, icon in ICONS.items()
    }
    for lesson in course.COURSE:
        found[lesson.name] = st.Page(
            lesson.page,
            title=lesson.title,
            icon=f":material/{lesson.icon}:",
            url_path=lesson.name,
        )
    return found


def _page(module: str) -> Callable[[], None]:
    """A page's function; its module is imported when the page is drawn."""

    def page() -> None:
        import_module(module).page()

    return page
