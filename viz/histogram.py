"""A histogram as a plotly figure: counts and edges in, a figure out."""

import numpy as np
import plotly.graph_objects as go

from viz.figures import finish, number_axis

HEIGHT = 320


def counts(heights: np.ndarray, edges: np.ndarray, *, title: str, x: str) -> go.Figure:
    """A histogram from counts and bin edges.

    Args:
        heights: counts.
        edges: one more than counts, ascending.
        title: of the figure.
        x: title of the x axis.
    """
    if heights.ndim != 1 or edges.shape != (len(heights) + 1,):
        raise ValueError(
            f"expected one edge more than counts, received {len(edges)}, {len(heights)}"
        )
    bar = go.Bar(x=(edges[1:] + edges[:-1]) / 2, y=heights, width=np.diff(edges))
    template = f"{x} about %{{x:.4g}}<br>%{{y:,}} numbers<extra></extra>"
    figure = go.Figure(bar.update(hovertemplate=template))
    number_axis(figure, "x", x)
    number_axis(figure, "y", "numbers")
    return finish(figure, title, HEIGHT)
