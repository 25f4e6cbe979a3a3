"""Plotly figures of the Positions page: arrays in, a figure out.

Colours come from the Plotly template, so that they follow light and dark mode; in the app the
browser builds it from Streamlit's theme, which comes from viz/theme.py. A range that crosses zero
gets the diverging ramp, any other range the sequential one.
"""

from collections.abc import Mapping
from html import escape
from typing import Any

import numpy as np
import plotly.graph_objects as go

HEIGHT = 420
MARGIN = {"l": 8, "r": 8, "t": 60, "b": 8}  # the top margin holds Plotly's mode bar and the title
MARK = {"color": "#808694", "width": 1, "dash": "dot"}  # visible on light and dark backgrounds
AXIS = {"title_standoff": 6, "zeroline": False}
OF_CELLS: dict[str, Any] = {**AXIS, "constrain": "domain", "showgrid": False, "tickformat": "d"}
BAR = {"thickness": 12, "outlinewidth": 0, "len": 1, "y": 0.5, "yanchor": "middle", "ypad": 0}


def heatmap(
    values: np.ndarray,
    *,
    title: str,
    x: str,
    y: str,
    bar: str,
    low: float,
    high: float,
    mark: tuple[int | None, int | None] = (None, None),
    square: bool = False,
    height: int = HEIGHT,
) -> go.Figure:
    """One matrix, first row on top; NaN cells stay empty.

    Args:
        values: [row, column].
        title: of the figure.
        x: title of the x axis.
        y: title of the y axis.
        bar: title of the colour bar, with the unit.
        low: value of the first colour.
        high: value of the last colour.
        mark: a row and a column to mark.
        square: whether cells are square.
        height: in pixels.
    """
    (rows, cols), (row, col) = values.shape, mark
    hover = f"{y} %{{y}}<br>{x} %{{x}}<br>{bar} %{{z:.4f}}<extra></extra>"
    cells = go.Heatmap(z=values, coloraxis="coloraxis", hoverongaps=False, hovertemplate=hover)
    figure = go.Figure(cells)
    if row is not None:
        figure.add_hline(row, line=MARK)
    if col is not None:
        figure.add_vline(col, line=MARK)
    figure.update_xaxes(title_text=x, range=[-0.5, cols - 0.5], **OF_CELLS)
    figure.update_yaxes(title_text=y, range=[rows - 0.5, -0.5], **OF_CELLS)
    if square:
        figure.update_yaxes(scaleanchor="x")
    colorbar = {**BAR, "title": {"text": bar, "side": "right"}}
    colours = {"autocolorscale": True, "cmin": low, "cmax": high, "colorbar": colorbar}
    return _titled(figure, title, height, coloraxis=colours)


def curves(
    at: np.ndarray,
    lines: Mapping[str, np.ndarray],
    *,
    title: str,
    x: str,
    y: str,
    mark: float | None = None,
    span: tuple[float, float] | None = None,
    height: int = HEIGHT,
) -> go.Figure:
    """Lines over one axis, named in the legend when there are several.

    Args:
        at: x coordinates.
        lines: y values by name.
        title: of the figure.
        x: title of the x axis, with the unit.
        y: title of the y axis, with the unit.
        mark: an x coordinate to mark.
        span: range of the y axis.
        height: in pixels.
    """
    look = {"mode": "lines", "line": {"width": 2}}
    look["hovertemplate"] = f"{x} %{{x:.4~g}}<br>{y} %{{y:.4f}}"
    named = ((escape(name, quote=False), values) for name, values in lines.items())
    figure = go.Figure([go.Scatter(x=at, y=values, name=name, **look) for name, values in named])
    if mark is not None:
        figure.add_vline(mark, line=MARK)
    figure.update_xaxes(title_text=x, **AXIS)
    figure.update_yaxes(title_text=y, exponentformat="none", range=span, **AXIS)  # no 160µ
    figure.update_layout(showlegend=len(lines) > 1, legend={"orientation": "h", "y": -70 / height})
    return _titled(figure, title, height)


def _titled(figure: go.Figure, title: str, height: int, **layout: Any) -> go.Figure:
    """The figure with its title directly above the plot, clear of Plotly's mode bar."""
    place = {"x": 0, "xanchor": "left", "yref": "paper", "y": 1, "yanchor": "bottom"}
    text = {"text": escape(title, quote=False), "font": {"size": 15}, "pad": {"b": 6}}
    return figure.update_layout(title={**place, **text}, height=height, margin=MARGIN, **layout)
