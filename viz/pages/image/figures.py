"""Figures of the vision papers for the Image page's network and picture, one at a time."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import streamlit as st

from viz import vision
from viz.pages import shared
from viz.pages.image import network, tracing
from viz.pages.state import params as link
from viz.pages.state import session
from viz.pages.widgets import charts, controls

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from models.run import Model, Trace
    from models.vit import ViT

TITLES = {
    "none": "None",
    "distance": "Attention distance",
    "filters": "Patch embedding",
    "positions": "Positions",
    "norms": "Token norms",
    "features": "Patch features",
}
PARAMS = (
    link.choice("figure", "none", TITLES),
    link.choice("object", "above", ("above", "below", "all")),
)
SIDES = {"above": "Above 0", "below": "Below 0", "all": "All patches"}
SAYS = {  # what a figure shows, and what it does not prove
    "distance": (
        "How far apart a patch and the patches it attends to are, averaged with the weights: one"
        " dot per head. Weights on the class token and registers are left out and the rest"
        " renormalised.",
        "A head may look far and still pass little on: the distance says nothing about values.",
    ),
    "filters": (
        "The first principal components of the filters that turn a patch into a vector, each"
        " scaled to its own largest number; grey is zero.",
        "The sign of a component is arbitrary: a picture and its negative are the same component.",
    ),
    "positions": (
        "Each tile belongs to one patch and shows how similar its position vector is to that of"
        " every patch (cosine).",
        "Similar vectors are not yet similar attention: queries and keys are made from them by"
        " matrices of their own.",
    ),
    "norms": (
        "The length of every token's hidden state, layer by layer. Frames mark outliers: above"
        " median + 10 · MAD of their layer.",
        "A long vector is not an important one: the next norm rescales it.",
    ),
    "features": (
        "The last hidden states of the patches as colours: their first three principal components"
        " are red, green and blue. The first component of all patches separates the object from"
        " its background.",
        "Equal colours mean similar features, not one object; which side of 0 is the object is for"
        " you to say.",
    ),
}


def show(page: str, request: tracing.Input, data: bytes) -> None:
    """The choice of a figure, and the figure."""
    with st.container(
        key=f"{page}_figures", horizontal=True, vertical_alignment="bottom", gap="medium"
    ):
        name = controls.choice(
            page, "figure", "Figures of the papers", TITLES, "Computed for this network and picture"
        )
        if name == "features":
            controls.choice(
                page, "object", "Coloured patches", SIDES, "By the first principal component"
            )
    charts.follow_mode(page)
    if name == "none":
        return
    says, proves = SAYS[name]
    st.markdown(says)
    try:
        model = network.opened(request.choice, request.device)
        figure = FIGURES[name](page, model, request, data)
    except ValueError as error:
        shared.error_line(error)
        return
    title = f"{TITLES[name]} of {model.name}"
    with charts.saved(page, "figure", title, (proves,)):
        charts.chart(page, figure, name, f"{title}. {says}")
    st.caption(proves)


def _distance(page: str, model: "Model", request: tracing.Input, data: bytes) -> "go.Figure":
    import torch

    from analysis.similarity import grid_distances
    from analysis.vision import attention_distance

    found = _traced(model, request, data)
    side = float(request.choice.patch)
    values = torch.stack([attention_distance(found, site, side) for site in found.sites])
    rows, cols = found.grid or (1, 1)
    uniform = float(grid_distances(rows, cols).mean()) * side
    title = f"{_name(model)}: mean attention distance"
    return vision.distances(values.numpy(), title=title, uniform=uniform, unit="pixels")


def _filters(page: str, model: "Model", request: tracing.Input, data: bytes) -> "go.Figure":
    from analysis.vision import filter_components

    network: ViT = model.network
    components, shares = filter_components(network.patches.filters())
    title = f"{_name(model)}: principal components of its patch embedding"
    return vision.filters(components.numpy(force=True), shares.numpy(force=True), title=title)


def _positions(page: str, model: "Model", request: tracing.Input, data: bytes) -> "go.Figure":
    from analysis.vision import position_similarity
    from models.trace import PatchGrid
    from viz.positions import tiles

    network: ViT = model.network
    if network.config.positions == "none":
        raise ValueError(f"{model.name} adds no position vectors")
    rows, cols = network.config.grid
    vectors = network.positions.vectors((rows, cols), network.config.width)
    grid = PatchGrid(rows, cols, network.positions.leading)
    values = position_similarity(vectors, grid).reshape(rows * cols, rows * cols)
    title = f"{_name(model)}: similarity of positions"
    return tiles(
        values.numpy(force=True), rows, cols, title=title, bar="cosine", low=-1.0, high=1.0
    )


def _norms(page: str, model: "Model", request: tracing.Input, data: bytes) -> "go.Figure":
    from analysis.vision import outliers, token_norms

    found = _traced(model, request, data)
    values = token_norms(found)
    title = f"{_name(model)}: norm of every token"
    shown = values.numpy(force=True), outliers(values).numpy(force=True)
    return vision.norms(*shown, found.labels, title=title)


def _features(page: str, model: "Model", request: tracing.Input, data: bytes) -> "go.Figure":
    from analysis.vision import feature_colours

    found = _traced(model, request, data)
    rows, cols = found.grid or (1, 1)
    side = session.get(page, "object")
    patches = found.final()[found.prefix :].cpu()
    colours = feature_colours(
        [patches], threshold=None if side == "all" else 0.0, flip=side == "below"
    )
    shares = ", ".join(f"{float(share):.0%}" for share in colours.explained)
    title = f"{_name(model)}: patch features, {shares} of their variance"
    return vision.patch_colours(colours.colours[0].numpy(), rows, cols, title=title)


def _name(model: "Model") -> str:
    """The model's name, for titles; of an untrained one it says so."""
    return model.name if model.trained else f"{model.name}, untrained (random weights)"


@st.cache_resource(max_entries=4, show_spinner=False)
def _hidden(request: tracing.Input, _model: "Model", _data: bytes) -> "Trace":
    """The trace with hidden states, cached by its request."""
    from models.run import trace

    image, _ = tracing.fitted_image(request, _data)
    with shared.forward_pass(_model):
        return trace(_model, image, hidden=True)


def _traced(model: "Model", request: tracing.Input, data: bytes) -> "Trace":
    return _hidden(request, model, data)


FIGURES: dict[str, Callable[[str, "Model", tracing.Input, bytes], "go.Figure"]] = {
    "distance": _distance,
    "filters": _filters,
    "positions": _positions,
    "norms": _norms,
    "features": _features,
}
