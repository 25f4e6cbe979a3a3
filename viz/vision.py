"""A number of every head as dots over the layers."""

import numpy as np
import plotly.graph_objects as go

from viz.figures import GREY, HEIGHT, finish, number_axis


def of_heads(values: np.ndarray, *, title: str, uniform: float, unit: str, name: str) -> go.Figure:
    """A number of every head, by layer.

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
