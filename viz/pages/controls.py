"""Widgets that pages have in common: each keeps its value in the session, under the page's name."""

from collections.abc import Mapping
from typing import Any

import streamlit as st


def slider(
    page: str,
    name: str,
    label: str,
    span: tuple[int, int],
    told: str,
    *,
    step: int = 1,
    width: int = 150,
) -> None:
    """Whole numbers of a span, its ends included."""
    st.slider(
        label,
        min_value=span[0],
        max_value=span[1],
        step=step,
        key=f"{page}_{name}",
        persist_state="session",
        help=told,
        width=width,
    )


def choice(page: str, name: str, label: str, titles: Mapping[Any, str], told: str) -> None:
    """One of a few words, all in view."""
    st.segmented_control(
        label,
        options=list(titles),
        format_func=titles.__getitem__,
        key=f"{page}_{name}",
        required=True,
        persist_state="session",
        help=told,
    )


def seed(page: str, told: str = "Draws other random weights", *, width: int = 130) -> None:
    """What random numbers begin with."""
    st.number_input(
        "Seed",
        min_value=0,
        max_value=999,
        step=1,
        key=f"{page}_seed",
        persist_state="session",
        help=told,
        width=width,
    )
