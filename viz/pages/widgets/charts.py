"""Plotly charts of a page, and their numbers as a file."""

import io
import re
from collections.abc import Mapping
from functools import partial

import numpy as np
import streamlit as st

from viz import figures

SAVES = "The numbers of this chart as CSV. The camera above the chart saves it as SVG."


def curves(
    page: str, at: np.ndarray, lines: Mapping[str, np.ndarray], *, title: str, x: str, y: str
) -> None:
    """Lines over one axis, arguments as for `figures.curves`, and a button that saves them.

    Args:
        page: of the chart.
    """
    figure = figures.curves(at, lines, title=title, x=x, y=y)
    file = "-".join(re.findall("[a-z0-9]+", title.lower()))
    saved = {"format": "svg", "filename": file}
    config = {"displaylogo": False, "toImageButtonOptions": saved}
    st.plotly_chart(figure, key=f"{page}_chart_{file}", alt=title, config=config)
    st.download_button(
        "Save the numbers",
        partial(_csv, at, lines, x),
        f"{file}.csv",
        on_click="ignore",
        help=SAVES,
        key=f"{page}_save_{file}",
    )


def _csv(at: np.ndarray, lines: Mapping[str, np.ndarray], x: str) -> bytes:
    file, rows = io.StringIO(), np.column_stack([at, *lines.values()])
    np.savetxt(file, rows, "%.9g", delimiter=",", header=",".join([x, *lines]), comments="")
    return file.getvalue().encode()
