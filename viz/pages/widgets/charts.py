"""Plotly charts of a page, drawn in the browser, and their numbers as a file."""

import re
from collections.abc import Iterator
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


def chart(page: str, figure: go.Figure, name: str, alt: str) -> None:
    """A figure in the colours of the mode, which keeps its zoom when its numbers change.

    Args:
        page: of the chart.
        figure: with a height.
        name: unique on its page.
        alt: its text alternative.
    """
    if (collected := _drawn.get()) is not None:
        collected.append(figure)
    drawn = figure.to_dict()
    drawn["layout"].pop("template", None)  # the browser adds its own
    height, plotly = drawn["layout"]["height"], plotly_path()
    props = {"figure": to_json_plotly(drawn), "height": height, "alt": alt, "plotly": plotly}
    view("chart", props, key=f"{page}_chart_{name}")


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
