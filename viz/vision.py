"""Figures of vision transformers: distances, filters, token norms, colours of patch features."""

from typing import Any

import numpy as np
import plotly.graph_objects as go

from viz.figures import GREY, HEIGHT, colour_axis, finish, number_axis

GAP = 1  # pixels between filters


def distances(values: np.ndarray, *, title: str, uniform: float, unit: str) -> go.Figure:
    """Mean attention distance of every head, by layer.

    Source: Dosovitskiy et al. 2021, figure 11.

    Args:
        values: [layer, head]; NaN for a head without one.
        title: of the figure.
        uniform: distance of uniform attention, drawn as a line.
        unit: of the distances.
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
    number_axis(figure, "y", f"mean attention distance, {unit}")
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
    figure.update_yaxes(visible=False)
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
    values: np.ndarray, picture: Any, *, title: str, bar: str, signed: bool, height: int = HEIGHT
) -> go.Figure:
    """A number for every patch, in colour over the picture.

    Args:
        values: [row, column].
        picture: a Pillow image of the same sides.
        title: of the figure.
        bar: title of the colour bar.
        signed: whether numbers may be negative: the colours then diverge from 0.
        height: in pixels.
    """
    rows, cols = values.shape
    largest = float(np.abs(values).max()) or 1.0
    hover = f"patch row %{{y}}, column %{{x}}<br>{bar} %{{z:.4g}}<extra></extra>"
    cells = go.Heatmap(z=values, coloraxis="coloraxis", opacity=0.62, hovertemplate=hover)
    figure = go.Figure(cells)
    number_axis(figure, "x", "patch column", cols)
    number_axis(figure, "y", "patch row", rows, down=True)
    figure.update_yaxes(scaleanchor="x")
    place = {"xref": "x", "yref": "y", "x": -0.5, "y": -0.5, "sizex": cols, "sizey": rows}
    figure.add_layout_image(source=picture, sizing="stretch", layer="below", **place)
    low = -largest if signed else 0.0
    return finish(figure, title, height, coloraxis=colour_axis(bar, low, largest))


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
    return finish(figure, title, HEIGHT)
