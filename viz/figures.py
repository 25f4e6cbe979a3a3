"""Plotly figures shared by the pages: arrays and labels in, a figure out.

Colours come from the Plotly template, so that they follow light and dark mode; in the app the
browser builds it from Streamlit's theme, which comes from viz/theme.py. A range that crosses zero
gets the diverging ramp, any other range the sequential one.
"""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

HEIGHT = 420
MARGIN = {"l": 8, "r": 8, "t": 60, "b": 8}  # the top margin holds Plotly's mode bar and the title
SMALL_TITLE = 22  # pixels above one of several matrices
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
    band: tuple[np.ndarray, np.ndarray] | None = None,
    mark: float | None = None,
    steps: bool = False,
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
        band: smallest and largest value at each x, drawn behind the lines.
        mark: an x coordinate to mark.
        steps: whether x is discrete, so that points get markers.
        span: range of the y axis.
        height: in pixels.
    """
    if not lines or any(len(line) != len(at) for line in lines.values()):
        raise ValueError(f"expected lines of {len(at)} values, received {_sizes(lines)}")
    traces = [_line(at, name, line, x, y, steps) for name, line in lines.items()]
    figure = go.Figure([*([] if band is None else [_band(at, *band)]), *traces])
    if mark is not None:
        figure.add_vline(mark, line={"color": GREY, "width": 1, "dash": "dot"})
    number_axis(figure, "x", x)
    number_axis(figure, "y", y)
    figure.update_yaxes(exponentformat="none")  # 0.00016, not 160µ
    figure.update_yaxes(range=span)
    several = len(lines) > 1 or band is not None
    figure.update_layout(showlegend=several, legend={"orientation": "h", "y": -70 / height})
    return finish(figure, title, height)


def facets(
    values: Mapping[str, np.ndarray],
    *,
    title: str,
    x: str,
    y: str,
    bar: str,
    low: float,
    high: float,
    across: int = 4,
    most: int | None = None,
    height: int = HEIGHT,
) -> go.Figure:
    """Several matrices side by side on one colour scale.

    Args:
        values: [row, column] by name.
        title: of the figure.
        x: title of the x axes.
        y: title of the y axes.
        bar: title of the colour bar, with the unit.
        low: value of the first colour.
        high: value of the last colour.
        across: maximum number of matrices per row.
        most: rows and columns to draw of each; of longer ones every `stride`-th.
        height: in pixels.
    """
    if not values:
        raise ValueError("expected at least one matrix, received none")
    across = min(across, len(values))
    figure = _grid(values, across)
    for number, matrix in enumerate(values.values()):
        place = number // across + 1, number % across + 1
        every = 1 if most is None else stride(max(matrix.shape), most)
        figure.add_trace(_cells(matrix, x, y, bar, every), *place)
        last = number + across >= len(values)
        number_axis(figure, "x", x if last else "", matrix.shape[1], at=place)
        number_axis(figure, "y", y if place[1] == 1 else "", matrix.shape[0], down=True, at=place)
        anchor = "x" if number == 0 else f"x{number + 1}"
        figure.update_yaxes(scaleanchor=anchor, row=place[0], col=place[1])
    finish(figure, title, height, coloraxis=colour_axis(bar, low, high))
    # the matrices have titles too
    return figure.update_layout(margin_t=MARGIN["t"] + SMALL_TITLE, title_pad_b=6 + SMALL_TITLE)


def _grid(values: Mapping[str, np.ndarray], across: int) -> go.Figure:
    """Empty subplots; if all matrices have one size, only the outer axes have tick labels."""
    down = -(-len(values) // across)
    same = len({matrix.shape for matrix in values.values()}) == 1
    figure = make_subplots(
        rows=down,
        cols=across,
        subplot_titles=[escape(name, quote=False) for name in values],
        horizontal_spacing=0.03 if same else 0.16 / across,
        vertical_spacing=0.22 / down,
    )
    for number in range(len(values) if same else 0):
        row, col = number // across + 1, number % across + 1
        figure.update_yaxes(showticklabels=col == 1, row=row, col=col)
        figure.update_xaxes(showticklabels=number + across >= len(values), row=row, col=col)
    return figure.update_annotations(font_size=13)


def _line(at: np.ndarray, name: str, values: np.ndarray, x: str, y: str, steps: bool) -> go.Scatter:
    return go.Scatter(
        x=at,
        y=values,
        name=escape(name, quote=False),
        mode="lines+markers" if steps else "lines",
        marker={"size": 4},
        line={"width": 2},
        hovertemplate=f"{x} %{{x:.4~g}}<br>{y} %{{y:.4f}}",
    )


def _band(at: np.ndarray, low: np.ndarray, high: np.ndarray) -> go.Scatter:
    return go.Scatter(
        x=np.concatenate([at, at[::-1]]),
        y=np.concatenate([low, high[::-1]]),
        fill="toself",
        fillcolor="rgba(128, 134, 148, 0.3)",
        line={"width": 0},
        hoverinfo="skip",
        name="smallest to largest",
    )


def bars(names: Sequence[str], values: Sequence[float], *, title: str, x: str) -> go.Figure:
    """A bar chart of shares from 0 to 1, the first on top; equal names get separate bars.

    Args:
        names: of the bars.
        values: from 0 to 1.
        title: of the figure.
        x: title of the x axis.
    """
    if len(names) != len(values) or not names:
        raise ValueError(f"expected a value for every name, received {len(names)}, {len(values)}")
    places = list(range(len(names)))
    labels = [f"{value:.3f}" for value in values]
    bar = go.Bar(x=list(values), y=places, orientation="h", text=labels, textposition="outside")
    bar.update(constraintext="none")  # text size does not depend on the width of the bar
    figure = go.Figure(bar.update(hovertemplate="%{text}<extra></extra>", cliponaxis=False))
    figure.update_xaxes(title=x, range=[0, 1.08], tickvals=[0, 0.25, 0.5, 0.75, 1])
    escaped = [escape(name, quote=False) for name in names]
    figure.update_yaxes(tickvals=places, ticktext=escaped, autorange="reversed")
    return finish(figure, title, 90 + 26 * len(names))


def stride(length: int, most: int) -> int:
    """The smallest step that leaves at most so many of a row's cells."""
    return -(-length // most)


def _cells(values: np.ndarray, x: str, y: str, bar: str, every: int = 1) -> go.Heatmap:
    """The cells of a matrix; with a step, every n-th, each at its own row and column."""
    return go.Heatmap(
        z=values[::every, ::every],
        x0=0,
        y0=0,
        dx=every,
        dy=every,
        coloraxis="coloraxis",
        hoverongaps=False,
        hovertemplate=f"{y} %{{y}}<br>{x} %{{x}}<br>{bar} %{{z:.4f}}<extra></extra>",
    )


def number_axis(
    figure: go.Figure,
    axis: str,
    title: str,
    count: int | None = None,
    *,
    down: bool = False,
    at: tuple[int, int] | None = None,
) -> None:
    """A numeric axis; with `count`, its range is that of the cells."""
    where: dict[str, Any] = {} if at is None else {"row": at[0], "col": at[1]}
    settings: dict[str, Any] = {"title_text": title, "title_standoff": 6, "zeroline": False}
    if count is not None:
        ends = [-0.5, count - 0.5]
        settings |= {"range": ends[::-1] if down else ends, "constrain": "domain"}
        settings |= {"showgrid": False, "tickformat": "d"}
    (figure.update_xaxes if axis == "x" else figure.update_yaxes)(**settings, **where)


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
