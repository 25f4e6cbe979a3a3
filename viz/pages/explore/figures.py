"""Figures of the vision papers for a model of pictures, one at a time."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from analysis.percent import percent
from models.request import File, Options, TraceRequest
from viz import vision
from viz.api import samples, tracing
from viz.pages import shared
from viz.pages.explore import compute, examples, source
from viz.pages.explore.names import PAGE
from viz.pages.state import params as link
from viz.pages.state import session
from viz.pages.widgets import charts, controls, pictures
from viz.positions import tiles

if TYPE_CHECKING:
    import plotly.graph_objects as go
    from PIL.Image import Image

    from models.run import Model, Trace
    from models.vit import ViT

TITLES = {
    "none": "None",
    "distance": "Attention distance",
    "entropy": "Entropy",
    "filters": "Patch embedding",
    "positions": "Positions",
    "norms": "Token norms",
    "together": "Features of all pictures",
}
FARTHEST = 2.5  # threshold of the first component, in its standard deviations
PARAMS = (
    link.choice("figure", "none", TITLES),
    link.choice("object", "above", ("above", "below", "all")),
    link.decimal("threshold", 0.0, -FARTHEST, FARTHEST),
)
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
    "together": (
        "The last hidden states of the patches of all examples and of your pictures as colours:"
        " their first three principal components are red, green and blue. The first component of"
        " all patches separates objects from their backgrounds.",
        "Equal colours mean similar features, not one object; which side of which threshold is the"
        " object is for you to say.",
    ),
}


def show(request: TraceRequest) -> None:
    """The choice of a figure, and the figure.

    Args:
        request: of a trace whose view is one of pictures.
    """
    model = tracing.opened(request.model)
    with st.container(
        key=f"{PAGE}_figures", horizontal=True, vertical_alignment="bottom", gap="medium"
    ):
        help = "Computed for this network and picture"
        name = controls.choice(PAGE, "figure", "Figures of the papers", TITLES, help)
        if name == "together":
            help = "The side of the threshold, by the first principal component"
            if controls.choice(PAGE, "object", "Coloured patches", SIDES, help) != "all":
                help = "Of the first component, in its standard deviations (σ) over all patches"
                span = -FARTHEST, FARTHEST
                controls.decimal_slider(
                    PAGE, "threshold", "Threshold, σ", span, help, step=0.25, width=150
                )
    if name == "none":
        return
    says, proves = SAYS[name]
    st.markdown(says)
    try:
        figure = FIGURES[name](model, request)
    except ValueError as error:
        shared.error_line(error)
        return
    title = f"{TITLES[name]} of {model.name}"
    with charts.saved(PAGE, "figure", title):
        charts.chart(PAGE, figure, name, f"{title}. {says}")
    st.caption(proves)


def _distance(model: "Model", request: TraceRequest) -> "go.Figure":
    t = _traced(request)
    rows, cols = _one_grid(t)
    side = _image(request, t).width / cols
    values = compute.stack([compute.attention_distance(t, site, side) for site in t.sites])
    uniform = float(compute.grid_distances(rows, cols).mean()) * side
    title = f"{_name(model)}: mean attention distance"
    return vision.distances(values.numpy(), title=title, uniform=uniform, unit="pixels")


def _entropy(model: "Model", request: TraceRequest) -> "go.Figure":
    t = _traced(request)
    _one_grid(t)
    values = compute.stack([compute.attention_entropy(t, site) for site in t.sites])
    return vision.distances(
        values.numpy(),
        title=f"{_name(model)}: entropy of attention",
        uniform=math.log(t.sites[0].keys),
        unit="nats",
        name="mean entropy of the rows",
    )


def _filters(model: "Model", request: TraceRequest) -> "go.Figure":
    network = _our_vit(model)
    components, shares = compute.filter_components(network.patches.filters())
    title = f"{_name(model)}: principal components of its patch embedding"
    return vision.filters(components.numpy(force=True), shares.numpy(force=True), title=title)


def _positions(model: "Model", request: TraceRequest) -> "go.Figure":
    network = _our_vit(model)
    if network.config.positions == "none":
        raise ValueError(f"{model.name} adds no position vectors")
    rows, cols = network.config.grid
    vectors = network.positions.vectors((rows, cols), network.config.width)
    grid = compute.PatchGrid(rows, cols, network.positions.leading)
    values = compute.position_similarity(vectors, grid).reshape(rows * cols, rows * cols)
    title = f"{_name(model)}: similarity of positions"
    return tiles(
        values.numpy(force=True), rows, cols, title=title, bar="cosine", low=-1.0, high=1.0
    )


def _norms(model: "Model", request: TraceRequest) -> "go.Figure":
    t = _traced(request)
    values = compute.token_norms(t)
    title = f"{_name(model)}: norm of every token"
    numbers = values.numpy(force=True), compute.outliers(values).numpy(force=True)
    return vision.norms(*numbers, t.labels, title=title)


def _features(model: "Model", request: TraceRequest) -> "go.Figure":
    requests = _every_picture(request)
    traces = [_traced(each) for _, each in requests]
    rows, cols = _one_grid(traces[0])
    side, deviations = session.get(PAGE, "object"), session.get(PAGE, "threshold")
    features = [trace.final()[trace.prefix :].cpu() for trace in traces]
    colours, threshold = compute.feature_colours(features, threshold=None), 0.0
    if side != "all":
        threshold = deviations * colours.deviation
        flip = side == "below"
        colours = compute.feature_colours(
            features, threshold=-threshold if flip else threshold, flip=flip
        )
    shares = ", ".join(percent(float(share)) for share in colours.explained)
    title = f"{_name(model)}: patch features, {shares} of their variance"
    if side != "all":
        kept = int(sum(each.sum() for each in colours.foreground))
        every_patch = len(traces) * rows * cols
        at = f"{deviations:g} σ ({threshold:.3g})" if deviations else "0"
        title += f"; {kept} of {every_patch} patches are {side} {at}"
    return vision.patch_colours_of(
        [each.numpy() for each in colours.colours],
        [np.asarray(_image(each, t)) for (_, each), t in zip(requests, traces, strict=True)],
        [name for name, _ in requests],
        rows,
        cols,
        title=title,
    )


def _every_picture(request: TraceRequest) -> list[tuple[str, TraceRequest]]:
    """The page's picture, the model's examples and the user's own ones, each with its name."""
    uploads, listed, picture = pictures.strip(PAGE), source.listed(), request.picture
    if picture is None:
        return []
    files: list[tuple[str, File]] = [
        (pictures.own_title(number, len(uploads)), file)
        for number, file in enumerate(uploads.values())
    ]
    for name in examples.pictures(listed):
        files.append((examples.named(listed, name), samples.file(name)))
    titles = {file.digest: (title, file) for title, file in files}
    titles.setdefault(picture.file.digest, ("This frame", picture.file))
    return [
        (title, replace(request, input=replace(picture, file=file)))
        for title, file in titles.values()
    ]


def _name(model: "Model") -> str:
    """The model's name, for titles; of an untrained one it says so."""
    return model.name if model.trained else f"{model.name}, untrained (random weights)"


def _image(request: TraceRequest, trace: "Trace") -> "Image":
    image = tracing.read_image(request, trace)
    if image is None:
        raise ValueError("the model's processor makes no picture of this one")
    return image


def _traced(request: TraceRequest) -> "Trace":
    """The trace with hidden states."""
    return tracing.traced(replace(request, options=Options(hidden=True))).value


def _one_grid(trace: "Trace") -> tuple[int, int]:
    """Rows and columns of the patches.

    Raises:
        ValueError: if the layers differ in their patches or heads.
    """
    if len({(site.queries, site.keys, site.heads) for site in trace.sites}) > 1:
        raise ValueError(
            "this figure needs layers that are alike: here they differ in their patches"
        )
    return trace.grid or (1, 1)


def _our_vit(model: "Model") -> "ViT":
    """The network of a model that this project's own code runs.

    Raises:
        ValueError: for any other model.
    """
    if model.door != "own":
        raise ValueError("this figure reads a network of Headscope: choose it under Options")
    return model.network


FIGURES: dict[str, Callable[["Model", TraceRequest], "go.Figure"]] = {
    "distance": _distance,
    "entropy": _entropy,
    "filters": _filters,
    "positions": _positions,
    "norms": _norms,
    "together": _features,
}
