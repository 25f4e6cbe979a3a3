"""Plotly charts of a page, drawn in the browser, and as files."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial

import plotly.graph_objects as go
import streamlit as st
from headscope_views import view
from plotly.io.json import to_json_plotly

from viz.api.server import plotly_path
from viz.export.charts import SUFFIXES, chart_file

FILES = {
    ".svg": ("SVG", "Vector graphics with editable text"),
    ".pdf": ("PDF", "For a paper"),
    ".png": ("PNG", "300 dots per inch"),
    ".csv": ("CSV", "The numbers, one per line"),
    ".npz": ("NPZ", "The numbers as NumPy arrays"),
}
_drawn: ContextVar[list[go.Figure] | None] = ContextVar("charts of this page", default=None)


def chart(
    page: str, figure: go.Figure, name: str, alt: str, picked: Callable[[], None] | None = None
) -> None:
    """One figure with a name that is unique on its page; `alt` is its text alternative.

    Args:
        picked: called after a click on the chart; `cell` then tells where.
    """
    keep(figure)
    draw(figure, _key(page, name), alt, picked=picked)


def draw(
    figure: go.Figure,
    key: str,
    alt: str,
    *,
    picked: Callable[[], None] | None = None,
) -> None:
    """A figure in the colours of the mode; a chart with the same key keeps its zoom.

    Args:
        figure: with a height.
        key: unique in the app.
        alt: its text alternative.
        picked: called after a click on the chart.
    """
    drawn = figure.to_dict()
    drawn["layout"].pop("template", None)  # the browser adds its own
    props = {
        "figure": to_json_plotly(drawn),
        "height": drawn["layout"]["height"],
        "alt": alt,
        "plotly": plotly_path(),
        "picks": picked is not None,
    }
    view("chart", props, key=key, on={} if picked is None else {"picked": picked})


def cell(page: str, name: str) -> tuple[int | None, int | None]:
    """Column and row of the click that caused this run; None for an axis without numbers."""
    state = st.session_state.get(_key(page, name))
    event = state.get("picked") if isinstance(state, Mapping) else None
    if not isinstance(event, Mapping):
        return None, None
    x, y = event.get("x"), event.get("y")
    return x if isinstance(x, int) else None, y if isinstance(y, int) else None


def _key(page: str, name: str) -> str:
    return f"{page}_chart_{name}"


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
