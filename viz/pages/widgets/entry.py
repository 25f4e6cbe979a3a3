"""Text entries: one whose text arrives as it is typed, and one for what counts when complete."""

from typing import Literal

import streamlit as st

from viz.pages.state import session


def text(
    page: str,
    name: str,
    label: str,
    help: str = "",
    *,
    placeholder: str = "",
    multiline: bool = False,
    width: int | Literal["stretch"] = "stretch",
) -> str:
    """The text that a setting holds."""
    from headscope_views import view

    key, value = session.widget(page, name)
    view(
        "entry",
        {
            "label": label,
            "value": value,
            "help": help,
            "placeholder": placeholder,
            "multiline": multiline,
        },
        key=key,
        on=("value",),
        width=width,
    )
    return session.get(page, name)


def committed(
    page: str,
    name: str,
    label: str,
    help: str | None = None,
    *,
    placeholder: str = "",
    width: int | Literal["stretch"] = "stretch",
) -> str:
    """A text that counts when it is complete (Enter, or when the entry is left): a path, an id."""
    key, value = session.widget(page, name)
    st.text_input(label, value=value, key=key, help=help, placeholder=placeholder, width=width)
    return session.get(page, name)
