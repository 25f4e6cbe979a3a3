"""Plotly charts of a page, drawn in the browser, and their numbers as a file."""

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial

import plotly.graph_objects as go
import streamlit as st
from headscope_views import view
from plotly.io.json import to_json_plotly

from viz.api.server import plotly_path
from viz.chart_numbers import chart_csv

_drawn: ContextVar[list[go.Figure] | None] = ContextVar("charts of this page", default=None)


def chart(
    page: str, figure: go.Figure, name: str, alt: str, picked: Callable[[], None] | None = None
) -> None:
    """One figure with a name that is unique on its page; `alt` is its text alternative.

    Args:
        picked: called after a click on the chart; `cell` then tells where.
    """
    if (drawn := _drawn.get()) is not None:
        drawn.append(figure)
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


@contextmanager
def saved(page: str, name: str, title: str) -> Iterator[None]:
    """Offers the numbers of the charts drawn inside as one table; each saves itself as a picture.

    Args:
        page: of the charts.
        name: unique on its page.
        title: from which the file has its name.
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
    st.download_button(
        "Save the numbers",
        partial(chart_csv, drawn),
        f"{file}.csv",
        on_click="ignore",
        help="The numbers of these charts as CSV, one per line. A chart saves itself as SVG or PNG"
        " by the buttons above it.",
        key=f"{page}_save_{name}",
    )
