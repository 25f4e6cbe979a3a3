"""Shared by the views of the Positions page: charts, titles, colour ranges."""

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from viz.pages.positions import picks
from viz.pages.positions.controls import PAGE, SCHEMES, value
from viz.pages.positions.encodings import Encoding
from viz.pages.state import session
from viz.pages.widgets import charts

PERCENTILE = 99  # colour range of a learned table: larger values are clipped to the last colour


def chart(figure: go.Figure, name: str, alt: str) -> None:
    """One figure with a unique name; `alt` is its text alternative."""
    charts.chart(PAGE, figure, name, alt, picks.picking(session.get(PAGE, "view"), name))


def wide_chart(figure: go.Figure, name: str, alt: str) -> None:
    """One figure that keeps its width in a narrow window."""
    with st.container(key=f"{PAGE}_wide_{name}"):
        chart(figure, name, alt)


def title(encoding: Encoding) -> str:
    """The title of a scheme, with its relevant settings."""
    name = SCHEMES[encoding.scheme]
    if encoding.scheme == "learned":
        return "MiniLM's learned positions" if encoding.trained else "Random (untrained)"
    if encoding.scheme == "relative":
        return f"{name} (untrained: random)"
    return name if encoding.scheme == "alibi" else f"{name}, base {encoding.base:,.0f}"


def span(values: np.ndarray, *, learned: bool = False) -> tuple[float, float]:
    """A symmetric colour range: −1 to 1 for waves, the largest magnitude for other tables.

    Args:
        values: to be drawn.
        learned: whether they were trained, which leaves a few outliers: the range then excludes the
            largest percent.
    """
    if learned:
        largest = float(np.percentile(abs(values), PERCENTILE)) or float(abs(values).max())
        return -largest, largest
    largest = float(abs(values).max())
    return (-1.0, 1.0) if 0.5 < largest <= 1 else (-largest, largest)


def cosines(values: np.ndarray) -> tuple[float, float]:
    """A colour range for cosines: −1 to 1, or the range of the values."""
    rescaled = value("scale") == "own" and values.min() < values.max()
    return (float(values.min()), float(values.max())) if rescaled else (-1.0, 1.0)
