"""Plotly charts of a page, in the browser's light or dark mode, and as files."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial

import plotly.graph_objects as go
import streamlit as st

from viz.export.charts import SUFFIXES, chart_file

CONFIG = {"displaylogo": False, "toImageButtonOptions": {"format": "svg"}}

FILES = {
    ".svg": ("SVG", "Vector graphics with editable text"),
    ".pdf": ("PDF", "For a paper"),
    ".png": ("PNG", "300 dots per inch"),
    ".csv": ("CSV", "The numbers, one per line"),
    ".npz": ("NPZ", "The numbers as NumPy arrays"),
}
_drawn: ContextVar[list[go.Figure] | None] = ContextVar("charts of this page", default=None)


def mode() -> str:
    """The browser's mode, "light" or "dark", as far as it is known."""
    return st.context.theme.type or "light"


def follow_mode(page: str) -> None:
    """Redraws the charts when the browser's mode changes."""
    from headscope_views import view

    view("mode", {"mode": mode()}, key=f"{page}_mode", on=("mode",))


def chart(page: str, figure: go.Figure, name: str, alt: str) -> None:
    """One figure with a name that is unique on its page; `alt` is its text alternative."""
    keep(figure)
    key = f"{page}_chart_{name}_{mode()}"  # an existing chart keeps its colours
    st.plotly_chart(figure, key=key, config=CONFIG, alt=alt)


def keep(figure: go.Figure) -> None:
    """A figure of the file that `saved` offers, which the page itself shows in another way."""
    if (drawn := _drawn.get()) is not None:
        drawn.append(figure)


@contextmanager
def saved(page: str, name: str, title: str, lines: Sequence[str] = ()) -> Iterator[None]:
    """Offers the charts drawn inside as one file, in light colours whatever the browser's mode.

    Args:
        page: of the charts.
        name: unique on its page.
        title: of the file's figure.
        lines: below the figure: settings, and what it does not show.
    """
    drawn: list[go.Figure] = []
    token = _drawn.set(drawn)
    try:
        yield
    finally:
        _drawn.reset(token)
    if not drawn:
        return
    file = "-".join(re.findall("[a-z0-9]+", title.lower()))[:60]
    with st.popover("Save", help="Save these charts in one file, in light colours"):
        for suffix in SUFFIXES:
            label, help = FILES[suffix]
            st.download_button(
                label,
                partial(chart_file, drawn, suffix, title, lines),
                f"{file}{suffix}",
                on_click="ignore",
                help=help,
                key=f"{page}_save_{name}_{suffix[1:]}",
                width="stretch",
            )
