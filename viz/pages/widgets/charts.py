"""Plotly charts of a page, drawn in the browser, and their numbers as a file."""

import re
from functools import partial

import plotly.graph_objects as go
import streamlit as st
from headscope_views import view
from plotly.io.json import to_json_plotly

from viz.api.server import plotly_path
from viz.chart_numbers import chart_csv

SAVES = (
    "The numbers of this chart as CSV, one per line. The chart saves itself as SVG or PNG by the"
    " buttons above it."
)


def chart(page: str, figure: go.Figure, name: str, title: str, alt: str) -> None:
    """A figure in the colours of the mode, which keeps its zoom when its numbers change, and a
    button that saves the numbers.

    Args:
        page: of the chart.
        figure: with a height.
        name: unique on its page.
        title: from which the file has its name.
        alt: its text alternative.
    """
    drawn = figure.to_dict()
    drawn["layout"].pop("template", None)  # the browser adds its own
    height, plotly = drawn["layout"]["height"], plotly_path()
    props = {"figure": to_json_plotly(drawn), "height": height, "alt": alt, "plotly": plotly}
    view("chart", props, key=f"{page}_chart_{name}")
    st.download_button(
        "Save the numbers",
        partial(chart_csv, [figure]),
        f"{'-'.join(re.findall('[a-z0-9]+', title.lower()))}.csv",
        on_click="ignore",
        help=SAVES,
        key=f"{page}_save_{name}",
    )
