"""Plotly figures shared by the pages: arrays and labels in, a figure out.

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
GREY = "#808694"  # readable on light and dark backgrounds


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
    if values.ndim != 2 or 0 in values.shape:
        raise ValueError(f"expected values [row, column] with cells, received {values.shape}")
    figure = go.Figure(_cells(values, x, y, bar))
    row, col = mark
    if row is not None:
        figure.add_hline(row, line={"color": GREY, "width": 1, "dash": "dot"})
    if col is not None:
        figure.add_vline(col, line={"color": GREY, "width": 1, "dash": "dot"})
    number_axis(figure, "x", x, values.shape[1])
    number_axis(figure, "y", y, values.shape[0], down=True)
    if square:
        figure.update_yaxes(scaleanchor="x")
    return finish(figure, title, height, coloraxis=colour_axis(bar, low, high))


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
    if not lines or any(len(line) != len(at) for line in lines.values()):
        raise ValueError(f"expected lines of {len(at)} values, received {_sizes(lines)}")
    figure = go.Figure([_line(at, name, line, x, y) for name, line in lines.items()])
    if mark is not None:
        figure.add_vline(mark, line={"color": GREY, "width": 1, "dash": "dot"})
    number_axis(figure, "x", x)
    number_axis(figure, "y", y)
    figure.update_yaxes(exponentformat="none")  # 0.00016, not 160µ
    figure.update_yaxes(range=span)
    below = {"orientation": "h", "y": -70 / height}
    figure.update_layout(showlegend=len(lines) > 1, legend=below)
    return finish(figure, title, height)


def _line(at: np.ndarray, name: str, values: np.ndarray, x: str, y: str) -> go.Scatter:
    return go.Scatter(
        x=at,
        y=values,
        name=escape(name, quote=False),
        mode="lines",
        line={"width": 2},
        hovertemplate=f"{x} %{{x:.4~g}}<br>{y} %{{y:.4f}}",
    )


def _cells(values: np.ndarray, x: str, y: str, bar: str) -> go.Heatmap:
    return go.Heatmap(
        z=values,
        coloraxis="coloraxis",
        hoverongaps=False,
        hovertemplate=f"{y} %{{y}}<br>{x} %{{x}}<br>{bar} %{{z:.4f}}<extra></extra>",
    )


def number_axis(
    figure: go.Figure, axis: str, title: str, count: int | None = None, *, down: bool = False
) -> None:
    """A numeric axis; with `count`, its range is that of the cells."""
    settings: dict[str, Any] = {"title_text": title, "title_standoff": 6, "zeroline": False}
    if count is not None:
        ends = [-0.5, count - 0.5]
        settings |= {"range": ends[::-1] if down else ends, "constrain": "domain"}
        settings |= {"showgrid": False, "tickformat": "d"}
    (figure.update_xaxes if axis == "x" else figure.update_yaxes)(**settings)


def colour_axis(bar: str, low: float, high: float) -> dict[str, object]:
    """One colour scale for all cells: diverging if the range crosses zero, else sequential."""
    title = {"text": bar, "side": "right"}
    colorbar = {"title": title, "thickness": 12, "outlinewidth": 0}
    colorbar |= {"len": 1, "y": 0.5, "yanchor": "middle", "ypad": 0}  # as high as the cells
    return {"autocolorscale": True, "cmin": low, "cmax": high, "colorbar": colorbar}


def finish(figure: go.Figure, title: str, height: int, **layout: Any) -> go.Figure:
    """The figure with its title directly above the plot, clear of Plotly's mode bar."""
    title_layout = {
        "text": escape(title, quote=False),
        "font": {"size": 15},
        "x": 0,
        "xanchor": "left",
    }
    title_layout |= {"yref": "paper", "y": 1, "yanchor": "bottom", "pad": {"b": 6}}
    return figure.update_layout(title=title_layout, height=height, margin=MARGIN, **layout)


def _sizes(lines: Mapping[str, np.ndarray]) -> list[int]:
    return [len(line) for line in lines.values()]
