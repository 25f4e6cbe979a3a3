"""What the views of the Positions page have in common: charts, titles, ranges of colour."""

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from viz.pages.positions.controls import PAGE, SCHEMES, value
from viz.pages.positions.encodings import Encoding

PERCENTILE = 99  # of the numbers of a learned table: the largest ones share a colour
CONFIG = {"displaylogo": False, "toImageButtonOptions": {"format": "svg"}}


def mode() -> str:
    """Whether the page is "light" or "dark" in the browser, as far as it is known."""
    return st.context.theme.type or "light"


def follow_mode() -> None:
    """Makes the charts anew, in their new colours, when light becomes dark."""
    from headscope_views import view

    view("mode", {"mode": mode()}, key=f"{PAGE}_mode", on=("mode",))


def chart(figure: go.Figure, name: str, alt: str) -> None:
    """One figure; the name keeps it apart from the others, `alt` says it to who cannot see it."""
    key = f"{PAGE}_chart_{name}_{mode()}"  # a chart that exists would keep its colours
    st.plotly_chart(figure, key=key, config=CONFIG, alt=alt)


def wide_chart(figure: go.Figure, name: str, alt: str) -> None:
    """One figure that keeps its width in a narrow window."""
    with st.container(key=f"{PAGE}_wide_{name}"):
        chart(figure, name, alt)


def title(encoding: Encoding) -> str:
    """Which scheme, with the settings that count."""
    name = SCHEMES[encoding.scheme]
    if encoding.scheme == "learned":
        return "MiniLM's learned positions" if encoding.trained else "Random (untrained)"
    if encoding.scheme == "relative":
        return f"{name} (untrained: random)"
    return name if encoding.scheme == "alibi" else f"{name}, base {encoding.base:,.0f}"


def span(values: np.ndarray, *, learned: bool = False) -> tuple[float, float]:
    """A range of colours around zero: waves are from −1 to 1 by meaning, others as far as they go.

    Args:
        values: to be drawn.
        learned: whether they were found by training, which leaves a few very large ones: the range
            then holds all but the largest percent.
    """
    if learned:
        largest = float(np.percentile(abs(values), PERCENTILE)) or float(abs(values).max())
        return -largest, largest
    largest = float(abs(values).max())
    return (-1.0, 1.0) if 0.5 < largest <= 1 else (-largest, largest)


def cosines(values: np.ndarray) -> tuple[float, float]:
    """Every cosine there can be, or those that there are."""
    own = value("scale") == "own" and values.min() < values.max()
    return (float(values.min()), float(values.max())) if own else (-1.0, 1.0)
