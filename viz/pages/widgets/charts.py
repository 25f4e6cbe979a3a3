"""Plotly charts of a page, in the browser's light or dark mode."""

import plotly.graph_objects as go
import streamlit as st

CONFIG = {"displaylogo": False, "toImageButtonOptions": {"format": "svg"}}


def mode() -> str:
    """The browser's mode, "light" or "dark", as far as it is known."""
    return st.context.theme.type or "light"


def follow_mode(page: str) -> None:
    """Redraws the charts when the browser's mode changes."""
    from headscope_views import view

    view("mode", {"mode": mode()}, key=f"{page}_mode", on=("mode",))


def chart(page: str, figure: go.Figure, name: str, alt: str) -> None:
    """One figure with a name that is unique on its page; `alt` is its text alternative."""
    key = f"{page}_chart_{name}_{mode()}"  # an existing chart keeps its colours
    st.plotly_chart(figure, key=key, config=CONFIG, alt=alt)
