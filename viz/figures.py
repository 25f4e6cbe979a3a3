"""Plotly figures: arrays in, a figure out.

Colours come from the Plotly template, so that they follow light and dark mode; in the app the
browser builds it from Streamlit's theme, which comes from viz/theme.py.
"""

from collections.abc import Mapping
from html import escape

import numpy as np
import plotly.graph_objects as go

HEIGHT = 340
MARGIN = {"l": 8, "r": 8, "t": 60, "b": 8}  # the top margin holds Plotly's mode bar and the title
AXIS = {"title_standoff": 6, "zeroline": False}


def curves(
    at: np.ndarray,
    lines: Mapping[str, np.ndarray],
    *,
    title: str,
    x: str,
    y: str,
) -> go.Figure:
    """Lines over one axis, named in the legend when there are several.

    Args:
        at: x coordinates.
        lines: y values by name.
        title: of the figure.
        x: title of the x axis, with the unit.
        y: title of the y axis, with the unit.
    """
    look = {"mode": "lines", "line": {"width": 2}}
    look["hovertemplate"] = f"{x} %{{x:.4~g}}<br>{y} %{{y:.4f}}"
    named = ((escape(name, quote=False), values) for name, values in lines.items())
    figure = go.Figure([go.Scatter(x=at, y=values, name=name, **look) for name, values in named])
    figure.update_xaxes(title_text=x, **AXIS)
    figure.update_yaxes(title_text=y, exponentformat="none", **AXIS)  # no 160µ
    figure.update_layout(showlegend=len(lines) > 1, legend={"orientation": "h", "y": -70 / HEIGHT})
    place = {"x": 0, "xanchor": "left", "yref": "paper", "y": 1, "yanchor": "bottom"}
    text = {"text": escape(title, quote=False), "font": {"size": 15}, "pad": {"b": 6}}
    return figure.update_layout(title={**place, **text}, height=HEIGHT, margin=MARGIN)
