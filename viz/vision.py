"""Figures of vision transformers: distances, filters, token norms, colours of patch features."""

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from viz.figures import GREY, HEIGHT, colour_axis, finish, number_axis

GAP = 1  # pixels between filters
ACROSS = 7  # filters of a row


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


def filters(kernels: np.ndarray, shares: np.ndarray, *, title: str) -> go.Figure:
    """Filters over a patch as small pictures, each scaled to its own largest number; grey is 0.

    Source: Dosovitskiy et al. 2021, figure 7 (left).

    Args:
        kernels: [filter, channel, row, column] with 1 or 3 channels.
        shares: of the variance, one per filter, for the tooltip.
        title: of the figure.
    """
    count, channels, rows, cols = kernels.shape
    if channels not in (1, 3):
        raise ValueError(f"expected 1 or 3 channels, received {channels}")
    down = -(-count // ACROSS)
    sheet = np.full((down * (rows + GAP) - GAP, ACROSS * (cols + GAP) - GAP, 4), 0, np.uint8)
    names = np.full(sheet.shape[:2], "", dtype=object)
    for number, kernel in enumerate(kernels):
        top, left = number // ACROSS * (rows + GAP), number % ACROSS * (cols + GAP)
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
