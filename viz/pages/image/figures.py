"""Figures of the vision papers for the Image page's network and picture, one at a time."""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from viz import vision
from viz.pages import picture, shared
from viz.pages.image import controls as image_controls
from viz.pages.image import examples, network, tracing
from viz.pages.state import params as link
from viz.pages.state import session
from viz.pages.widgets import charts, controls, pictures

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from models.run import Model, Trace
    from models.vit import ViT

TITLES = {
    "none": "None",
    "distance": "Attention distance",
    "entropy": "Entropy",
    "filters": "Patch embedding",
    "positions": "Positions",
    "norms": "Token norms",
    "features": "Patch features",
    "similarity": "Patch similarity",
}
FARTHEST = 2.5  # threshold of the first component, in its standard deviations
PARAMS = (
    link.choice("figure", "none", TITLES),
    link.choice("object", "above", ("above", "below", "all")),
    link.decimal("threshold", 0.0, -FARTHEST, FARTHEST),
    link.choice("over", "one", ("one", "all")),
    link.number("like", 0, 0, 9999),
)
OVER = {"one": "This picture", "all": "All pictures"}
SIDES = {"above": "Above", "below": "Below", "all": "All patches"}
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
        "Equal colours mean similar features, not one object; which side of which threshold is the"
        " object is for you to say.",
    ),
    "similarity": (
        "How similar the last hidden state of every patch is to that of the framed one (cosine)."
        " Click another patch, or move the slider.",
        "Similar features are not yet one object: patches of one texture are alike as well.",
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
            help = "The side of the threshold, by the first principal component"
            if controls.choice(page, "object", "Coloured patches", SIDES, help) != "all":
                help = "Of the first component, in its standard deviations (σ) over all patches"
                span = -FARTHEST, FARTHEST
                controls.decimal_slider(
                    page, "threshold", "Threshold, σ", span, help, step=0.25, width=150
                )
            help = "Components of this picture’s patches, or of all examples’ and your pictures’"
            controls.choice(page, "over", "Components of", OVER, help)
        if name == "similarity":
            last = (request.choice.size // request.choice.patch) ** 2 - 1
            controls.slider(page, "like", "Patch", (0, last), "With which all are compared")
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
        picked = session.callback(partial(_take, page)) if name == "similarity" else None
        charts.chart(page, figure, name, f"{title}. {says}", picked)
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


def _entropy(page: str, model: "Model", request: tracing.Input, data: bytes) -> "go.Figure":
    import torch

    from analysis.vision import attention_entropy

    found = _traced(model, request, data)
    values = torch.stack([attention_entropy(found, site) for site in found.sites])
    return vision.distances(
        values.numpy(),
        title=f"{_name(model)}: entropy of attention",
        uniform=math.log(found.sites[0].keys),
        unit="nats",
        name="mean entropy of the rows",
    )


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

    every = session.get(page, "over") == "all"
    shown = _every_picture(page, request, data) if every else [("", request, data)]
    traces = [_traced(model, each, file) for _, each, file in shown]
    rows, cols = traces[0].grid or (1, 1)
    side, deviations = session.get(page, "object"), session.get(page, "threshold")
    features = [found.final()[found.prefix :].cpu() for found in traces]
    colours, threshold = feature_colours(features, threshold=None), 0.0
    if side != "all":
        threshold = deviations * colours.deviation
        flip = side == "below"
        colours = feature_colours(features, threshold=-threshold if flip else threshold, flip=flip)
    shares = ", ".join(f"{float(share):.0%}" for share in colours.explained)
    title = f"{_name(model)}: patch features, {shares} of their variance"
    if side != "all":
        kept = int(sum(each.sum() for each in colours.foreground))
        every_patch = len(traces) * rows * cols
        at = f"{deviations:g} σ ({threshold:.3g})" if deviations else "0"
        title += f"; {kept} of {every_patch} patches are {side} {at}"
    if not every:
        return vision.patch_colours(colours.colours[0].numpy(), rows, cols, title=title)
    images = [np.asarray(tracing.fitted_image(each, file)[0]) for _, each, file in shown]
    return vision.patch_colours_of(
        [each.numpy() for each in colours.colours],
        images,
        [name for name, _, _ in shown],
        rows,
        cols,
        title=title,
    )


def _similarity(page: str, model: "Model", request: tracing.Input, data: bytes) -> "go.Figure":
    from analysis.vision import patch_similarity

    found = _traced(model, request, data)
    rows, cols = found.grid or (1, 1)
    patch = min(session.get(page, "like"), rows * cols - 1)
    values = patch_similarity(found.final()[found.prefix :].cpu(), patch)
    image, _ = tracing.fitted_image(request, data)
    figure = vision.overlay(
        values.reshape(rows, cols).numpy(),
        image,
        title=f"{_name(model)}: patches like patch {patch}",
        bar="cosine",
        signed=True,
    )
    row, col = divmod(patch, cols)
    box = col / cols, row / rows, (col + 1) / cols, (row + 1) / rows
    vision.frame_box(figure, (rows, cols), box)
    return figure


def _take(page: str) -> None:
    """Called after a click on the similarity figure: compares all with the patch clicked."""
    session.fold(page)
    choice = image_controls.chosen(page)
    across = choice.size // choice.patch
    col, row = charts.cell(page, "similarity")
    if row is not None and col is not None and 0 <= row < across and 0 <= col < across:
        session.assign(page, {"like": row * across + col})


def _every_picture(
    page: str, request: tracing.Input, data: bytes
) -> list[tuple[str, tracing.Input, bytes]]:
    """The page's picture, the network's examples and the user's own ones, each with its name."""
    own = pictures.strip(page)
    files = [
        (pictures.own_title(number, len(own)), file) for number, file in enumerate(own.values())
    ]
    model = session.get(page, "model")
    for name in examples.of(model):
        files.append((examples.named(model, name), picture.PICTURES[name].read_bytes()))
    found = {link.digest_of(file): (title, file) for title, file in files}
    found.setdefault(request.digest, ("This frame", data))
    return [
        (title, replace(request, digest=digest), file) for digest, (title, file) in found.items()
    ]


def _name(model: "Model") -> str:
    """The model's name, for titles; of an untrained one it says so."""
    return model.name if model.trained else f"{model.name}, untrained (random weights)"


@st.cache_resource(max_entries=16, show_spinner=False)
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
    "entropy": _entropy,
    "filters": _filters,
    "positions": _positions,
    "norms": _norms,
    "features": _features,
    "similarity": _similarity,
}
