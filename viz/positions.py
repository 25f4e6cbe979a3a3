"""Figures for positional encodings: similarity tiles, and rotary pairs as dials."""

from collections.abc import Sequence
from html import escape

import numpy as np
import plotly.graph_objects as go

from viz.figures import GREY, HEIGHT, colour_axis, finish, number_axis

PATCHES = "patch %{customdata[0]},%{customdata[1]} with %{customdata[2]},%{customdata[3]}"


TILES_HEIGHT = 640  # in pixels
ACROSS = 8  # dials of a row


def tiles(
    values: np.ndarray,
    rows: int,
    cols: int,
    *,
    title: str,
    bar: str,
    low: float,
    high: float,
) -> go.Figure:
    """A grid of tiles: the tile at row r, column c shows the values of that patch with all others.

    Source: Dosovitskiy et al. 2021, figure 7 (middle).

    Args:
        values: [position, position], patches numbered row by row.
        rows: of the grid.
        cols: of the grid.
        title: of the figure.
        bar: title of the colour bar, with the unit.
        low: value of the first colour.
        high: value of the last colour.
    """
    if values.shape != (rows * cols, rows * cols):
        raise ValueError(f"expected {rows * cols} × {rows * cols} values, received {values.shape}")
    figure = go.Figure(
        go.Heatmap(
            z=_tiled(values, rows, cols, np.nan),
            customdata=_tile_names(rows, cols),
            hoverongaps=False,
            coloraxis="coloraxis",
            hovertemplate=f"{PATCHES}<br>{bar} %{{z:.4f}}<extra></extra>",
        )
    )
    _tile_axis(figure, "x", "patch column", cols)
    _tile_axis(figure, "y", "patch row", rows)
    figure.update_yaxes(scaleanchor="x", scaleratio=1)
    return finish(figure, title, TILES_HEIGHT, coloraxis=colour_axis(bar, low, high))


def pairs(
    query: np.ndarray,
    key: np.ndarray,
    names: Sequence[str],
    *,
    title: str,
) -> go.Figure:
    """Rotary pairs as hands on dials, each with its own frequency.

    Args:
        query: angle of each pair at the query's position, in radians.
        key: angle of each pair at the key's position, in radians.
        names: of the pairs.
        title: of the figure.
    """
    if not len(query) == len(key) == len(names) or not len(names):
        sizes = len(query), len(key), len(names)
        raise ValueError(f"expected angles and names of as many pairs, received {sizes}")
    number = np.arange(len(names))
    x, y = 2.6 * (number % ACROSS), -3.1 * (number // ACROSS)
    figure = go.Figure(go.Scatter(**_dials(x, y), mode="lines", line={"color": GREY, "width": 1}))
    figure.data[0].update(hoverinfo="skip", showlegend=False)
    for name, angles in (("query", query), ("key", key)):
        figure.add_scatter(
            **_hands(x, y, angles),
            mode="lines+markers",
            marker={"size": [0, 9, 0] * len(names)},
            line={"width": 3},
            name=name,
            hoverinfo="skip",
        )
    _name_dials(figure, names, x, y)
    hidden = {"visible": False, "fixedrange": True}
    figure.update_layout(xaxis=hidden, yaxis={**hidden, "scaleanchor": "x"})
    figure.update_layout(legend={"orientation": "h", "y": 1.0, "yanchor": "bottom", "x": 0.7})
    return finish(figure, title, HEIGHT)


def _tile_axis(figure: go.Figure, axis: str, title: str, count: int) -> None:
    """Tick labels at the centres of the tiles; only every n-th if there are many."""
    number_axis(figure, axis, title, count * (count + 1) - 1, down=axis == "y")
    places = np.arange(count) * (count + 1) + (count - 1) / 2
    step = -(-count // 12)
    ticks = {"tickvals": places[::step], "ticktext": list(range(0, count, step))}
    figure.update_layout({f"{axis}axis": ticks})


def _tiled(values: np.ndarray, rows: int, cols: int, gap: float) -> np.ndarray:
    """[position, position] as one picture [rows·(rows + 1) − 1, …] with a gap between tiles."""
    picture = np.full((rows, rows + 1, cols, cols + 1), gap, dtype=np.float32)
    grid = values.reshape(rows, cols, rows, cols)  # tile row, tile column, row, column
    picture[:, :rows, :, :cols] = grid.transpose(0, 2, 1, 3)
    return picture.reshape(rows * (rows + 1), cols * (cols + 1))[:-1, :-1]


def _tile_names(rows: int, cols: int) -> np.ndarray:
    """The two patches of each cell, for hover labels: [row, column, (r, c, r′, c′)]."""
    place = np.indices((rows, rows + 1, cols, cols + 1), dtype=np.uint8)
    names = place[[0, 2, 1, 3]].reshape(4, rows * (rows + 1), cols * (cols + 1))
    return names.transpose(1, 2, 0)[:-1, :-1]


def _name_dials(figure: go.Figure, names: Sequence[str], x: np.ndarray, y: np.ndarray) -> None:
    for label, left, top in zip(names, x, y, strict=True):
        text = escape(label, quote=False)
        figure.add_annotation(x=left, y=top - 1.35, text=text, showarrow=False, font_size=11)


def _dials(x: np.ndarray, y: np.ndarray) -> dict[str, np.ndarray]:
    turn = np.append(np.linspace(0, 2 * np.pi, 49), np.nan)
    return {
        "x": (x[:, None] + np.cos(turn)).ravel(),
        "y": (y[:, None] + np.sin(turn)).ravel(),
    }


def _hands(x: np.ndarray, y: np.ndarray, angles: np.ndarray) -> dict[str, np.ndarray]:
    ends = [np.stack([c, c + f(angles), c + np.nan], 1) for c, f in ((x, np.cos), (y, np.sin))]
    return {"x": ends[0].ravel(), "y": ends[1].ravel()}
