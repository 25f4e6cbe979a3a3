"""How far and how evenly each head of a model of pictures looks, as in the papers."""

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import plotly.graph_objects as go
import streamlit as st

from models.request import TraceRequest
from viz import vision
from viz.api import tracing
from viz.pages import shared
from viz.pages.explore import compute
from viz.pages.explore.names import PAGE
from viz.pages.state import params as link
from viz.pages.widgets import charts, controls

if TYPE_CHECKING:
    from models.trace import Trace

TITLES = {"none": "None", "distance": "Attention distance", "entropy": "Entropy"}
GONE = dict.fromkeys(("filters", "positions", "norms", "together"), "none")
PARAMS = (
    replace(link.choice("figure", "none", TITLES), replaced=GONE),
    *map(link.retired, ("object", "threshold")),
)
SAYS = {  # what a figure shows, and what it does not prove
    "distance": (
        "How far apart a patch and the patches it attends to are, averaged with the weights: one"
        " dot per head. Weights on the class token and registers are left out and the rest"
        " renormalised.",
        "A head may look far and still pass little on: the distance says nothing about values.",
    ),
    "entropy": (
        "The mean entropy of each head's rows: 0 where every token attends to one, and the dotted"
        " line where it attends to all alike. One dot per head.",
        "A sharp head is not an important one: it may be sharp on a token that says nothing.",
    ),
}


def show(request: TraceRequest) -> None:
    """The choice of a figure, and the figure.

    Args:
        request: of a trace whose view is one of pictures.
    """
    model = tracing.opened(request.model)
    with st.container(key=f"{PAGE}_figures"):
        help = "Computed for this network and picture"
        name = controls.choice(PAGE, "figure", "Figures of the papers", TITLES, help)
    if name == "none":
        return
    says, proves = SAYS[name]
    st.markdown(says)
    trace = tracing.traced(request).value
    if len({(site.queries, site.keys, site.heads) for site in trace.sites}) > 1:
        shared.error_line("this figure needs layers that are alike: here their patches differ")
        return
    called = model.name if model.trained else f"{model.name}, untrained (random weights)"
    figure = (_distance if name == "distance" else _entropy)(request, trace, called)
    title = f"{TITLES[name]} of {model.name}"
    with charts.saved(PAGE, "figure", title):
        charts.chart(PAGE, figure, name, f"{title}. {says}")
    st.caption(proves)


def _distance(request: TraceRequest, trace: "Trace", called: str) -> go.Figure:
    image, (rows, cols) = tracing.read_image(request, trace), trace.grid or (1, 1)
    side = (cols if image is None else image.width) / cols
    values = compute.stack([compute.attention_distance(trace, site, side) for site in trace.sites])
    uniform = float(compute.grid_distances(rows, cols).mean()) * side
    title = f"{called}: mean attention distance"
    return vision.of_heads(
        values.numpy(), title=title, uniform=uniform, unit="pixels", name="mean attention distance"
    )


def _entropy(request: TraceRequest, trace: "Trace", called: str) -> go.Figure:
    values = compute.stack([compute.attention_entropy(trace, site) for site in trace.sites])
    uniform, title = math.log(trace.sites[0].keys), f"{called}: entropy of attention"
    name = "mean entropy of the rows"
    return vision.of_heads(values.numpy(), title=title, uniform=uniform, unit="nats", name=name)
