"""Figures of vision transformers: distances, filters, token norms, colours of patch features."""

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from viz.figures import GREY, HEIGHT, colour_axis, finish, number_axis
from viz.theme import sequential

GAP = 1  # pixels between filters
BRIGHTER = [
    [place / 255, "rgb({}, {}, {})".format(*sequential("dark")[place])]
    for place in range(0, 256, 15)
]
FEW = 12  # patches along a side, all of which have a tick
FRAME = "#B34700"  # white text on it has a contrast of 5.6


def distances(
    values: np.ndarray,
    *,
    title: str,
    uniform: float,
    unit: str,
    name: str = "mean attention distance",
) -> go.Figure:
    """Mean attention distance of every head, by layer, or another number of heads.

    Source: Dosovitskiy et al. 2021, figure 11.

    Args:
        values: [layer, head]; NaN for a head without one.
        title: of the figure.
        uniform: the number of uniform attention, drawn as a line.
        unit: of the numbers.
        name: of the numbers.
    """
    layers, heads = values.shape
    figure = go.Figure(
        go.Scatter(
            x=np.repeat(np.arange(layers), heads),
            y=values.flatten(),
            mode="markers",
            marker={"size": 9, "opacity": 0.75},
            customdata=np.tile(np.arange(heads), layers),
            hovertemplate=f"layer %{{x}}, head %{{customdata}}<br>%{{y:.4f}} {unit}<extra></extra>",
        )
    )
    figure.add_hline(
        uniform,
        line={"color": GREY, "width": 1, "dash": "dot"},
        annotation={"text": f"uniform attention: {uniform:.4f}", "font": {"color": GREY}},
        annotation_position="bottom left",
    )
    number_axis(figure, "x", "layer")
    figure.update_xaxes(range=[-0.5, layers - 0.5], dtick=1)
    number_axis(figure, "y", f"{name}, {unit}")
    top = max(uniform, float(np.nanmax(values)) if np.isfinite(values).any() else 0)
    figure.update_yaxes(range=[0, 1.12 * top])
    return finish(figure, title, HEIGHT)


def filters(kernels: np.ndarray, shares: np.ndarray, *, title: str, across: int = 7) -> go.Figure:
    """Filters over a patch as small pictures, each scaled to its own largest number; grey is 0.

    Source: Dosovitskiy et al. 2021, figure 7 (left).

    Args:
        kernels: [filter, channel, row, column] with 1 or 3 channels.
        shares: of the variance, one per filter, for the tooltip.
        title: of the figure.
        across: filters per row.
    """
    count, channels, rows, cols = kernels.shape
    if channels not in (1, 3):
        raise ValueError(f"expected 1 or 3 channels, received {channels}")
    down = -(-count // across)
    sheet = np.full((down * (rows + GAP) - GAP, across * (cols + GAP) - GAP, 4), 0, np.uint8)
    names = np.full(sheet.shape[:2], "", dtype=object)
    for number, kernel in enumerate(kernels):
        top, left = number // across * (rows + GAP), number % across * (cols + GAP)
        largest = np.abs(kernel).max() or 1.0
        levels = np.rint(127.5 + 127.5 * kernel / largest).astype(np.uint8)
        area = (slice(top, top + rows), slice(left, left + cols))
        sheet[(*area, slice(0, 3))] = np.broadcast_to(levels.transpose(1, 2, 0), (rows, cols, 3))
        sheet[(*area, 3)] = 255
        names[area] = f"component {number + 1}: {shares[number]:.1%} of the variance"
    figure = go.Figure(
        go.Image(
            z=sheet,
            colormodel="rgba",
            customdata=names,
            hovertemplate="%{customdata}<extra></extra>",
        )
    )
    figure.update_xaxes(visible=False)
    figure.update_yaxes(visible=False, scaleanchor="x", autorange="reversed")
    return finish(figure, title, 90 + 62 * down)


def norms(values: np.ndarray, outliers: np.ndarray, labels: list[str], *, title: str) -> go.Figure:
    """Norm of every token's hidden state by layer; outliers have a frame.

    Args:
        values: [layer, token]; layer 0 is the embedding.
        outliers: [layer, token], whether a token is one.
        labels: of the tokens, for the tooltip.
        title: of the figure.
    """
    hover = "layer %{y}<br>%{customdata}<br>norm %{z:.4f}<extra></extra>"
    figure = go.Figure(
        go.Heatmap(
            z=values,
            coloraxis="coloraxis",
            customdata=np.broadcast_to(np.array(labels, dtype=object), values.shape),
            hovertemplate=hover,
        )
    )
    layers, tokens = np.nonzero(outliers)
    if len(layers):
        figure.add_scatter(
            x=tokens,
            y=layers,
            mode="markers",
            marker={"symbol": "square-open", "size": 8, "line": {"width": 2}, "color": "#D55E00"},
            hoverinfo="skip",
            name="outlier",
        )
    number_axis(figure, "x", "token", values.shape[1])
    number_axis(figure, "y", "layer", values.shape[0], down=True)
    high = float(values.max()) or 1.0
    return finish(figure, title, 320, coloraxis=colour_axis("norm", 0.0, high), showlegend=False)


def overlay(
    values: np.ndarray,
    picture: Any,
    *,
    title: str,
    bar: str,
    signed: bool,
    noun: str = "patch",
    height: int = HEIGHT,
) -> go.Figure:
    """A number for every patch, in colour over the picture.

    Args:
        values: [row, column].
        picture: a Pillow image of the same sides.
        title: of the figure.
        bar: title of the colour bar.
        signed: whether numbers may be negative: the colours then diverge from 0.
        noun: what a patch is called.
        height: in pixels.
    """
    rows, cols = values.shape
    largest = float(np.abs(values).max()) or 1.0
    low = -largest if signed else 0.0
    colours = colour_axis(bar if signed else f"{bar}: brighter = more", low, largest)
    if not signed:  # as in the view of a picture, in light and dark alike
        colours |= {"autocolorscale": False, "colorscale": BRIGHTER}
    hover = f"{noun} row %{{y}}, column %{{x}}<br>{bar} %{{z:.4g}}<extra></extra>"
    cells = go.Heatmap(z=values, coloraxis="coloraxis", opacity=0.62, hovertemplate=hover)
    figure = go.Figure(cells)
    number_axis(figure, "x", f"{noun} column", cols)
    number_axis(figure, "y", f"{noun} row", rows, down=True)
    for axis, side in (("xaxis", cols), ("yaxis", rows)):
        if side <= FEW:  # without halves between the patches
            figure.layout[axis].dtick = 1
    figure.update_yaxes(scaleanchor="x", scaleratio=picture.height * cols / (picture.width * rows))
    place = {"xref": "x", "yref": "y", "x": -0.5, "y": -0.5, "sizex": cols, "sizey": rows}
    figure.add_layout_image(source=picture, sizing="stretch", layer="below", **place)
    return finish(figure, title, height, coloraxis=colours)


def frame_box(
    figure: go.Figure, shape: tuple[int, int], box: tuple[float, float, float, float]
) -> None:
    """A frame over an `overlay`.

    Args:
        figure: of `overlay`.
        shape: rows and columns of its cells.
        box: left, top, right and bottom, as shares of the picture.
    """
    rows, cols = shape
    left, top, right, bottom = (
        min(max(share, 0.0), 1.0) * side - 0.5  # a box may go beyond the picture
        for share, side in zip(box, (cols, rows, cols, rows), strict=True)
    )
    x, y = [left, right, right, left, left], [top, top, bottom, bottom, top]
    for width, colour in ((5, "#FFFFFF"), (3, FRAME)):
        figure.add_scatter(
            x=x,
            y=y,
            mode="lines",
            line={"color": colour, "width": width},
            hoverinfo="skip",
            showlegend=False,
        )


def patch_colours_of(
    colours: Sequence[np.ndarray],
    pictures: Sequence[np.ndarray],
    names: Sequence[str],
    rows: int,
    cols: int,
    *,
    title: str,
) -> go.Figure:
    """Several pictures, and below each the colours of its patches; black is background.

    Args:
        colours: of each picture, [patch, 3], from 0 to 1.
        pictures: [row, column, 3] in levels from 0 to 255.
        names: of the pictures.
        rows: of patches.
        cols: of patches.
        title: of the figure.
    """
    count = len(pictures)
    figure = make_subplots(
        rows=2,
        cols=count,
        subplot_titles=[escape(name, quote=False) for name in names],
        horizontal_spacing=0.02,
        vertical_spacing=0.03,
    )
    for column, picture in enumerate(pictures, 1):
        image = go.Image(z=picture.astype(np.uint8), hoverinfo="skip")
        figure.add_trace(image, row=1, col=column)
    for column, (values, name) in enumerate(zip(colours, names, strict=True), 1):
        levels = np.rint(255 * values.reshape(rows, cols, 3)).astype(np.uint8)
        hover = f"{escape(name)}, patch %{{y}},%{{x}}<br>red, green, blue: %{{z}}<extra></extra>"
        figure.add_trace(go.Image(z=levels, hovertemplate=hover), row=2, col=column)
    figure.update_xaxes(visible=False)
    figure.update_yaxes(visible=False, autorange="reversed")
    axes: Iterable[Any] = figure.select_yaxes()
    for axis in axes:
        axis.scaleanchor = axis.anchor
    figure.update_annotations(font={"size": 12})
    finish(figure, title, 130 + min(2 * 900 // count, 520))
    return figure.update_layout(title={"pad": {"b": 28}})


def patch_colours(colours: np.ndarray, rows: int, cols: int, *, title: str) -> go.Figure:
    """A colour for every patch, row by row; black is background.

    Args:
        colours: [patch, 3], from 0 to 1.
        rows: of patches.
        cols: of patches.
        title: of the figure.
    """
    if colours.shape != (rows * cols, 3):
        raise ValueError(f"expected {rows * cols} colours, received {colours.shape}")
    levels = np.rint(255 * colours.reshape(rows, cols, 3)).astype(np.uint8)
    hover = "patch %{y},%{x}<br>red, green, blue: %{z}<extra></extra>"
    figure = go.Figure(go.Image(z=levels, hovertemplate=hover))
    number_axis(figure, "x", "patch column", cols)
    number_axis(figure, "y", "patch row", rows, down=True)
    figure.update_yaxes(scaleanchor="x")
    return finish(figure, title, HEIGHT)
