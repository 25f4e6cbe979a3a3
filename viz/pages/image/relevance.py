"""Relevance of the patches for a class, and whether taking them away bears it out."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import streamlit as st

from viz import vision
from viz.figures import curves
from viz.pages import shared
from viz.pages.image import network, tracing
from viz.pages.state import params as link
from viz.pages.state import session
from viz.pages.widgets import cards, charts, controls, pictures

if TYPE_CHECKING:
    from analysis.faithfulness import Faithfulness
    from analysis.perturbation import Kind, Perturbation
    from models.run import Model

Method = Literal["none", "rollout", "gradient", "chefer", "attnlrp"]
TITLES: dict[Method, str] = {
    "none": "None",
    "rollout": "Rollout",
    "gradient": "Gradient × attention",
    "chefer": "Chefer",
    "attnlrp": "AttnLRP",
}
PROOFS = {
    "no": "None",
    "yes": "Removed and kept",
    "deletion": "Deletion",
    "insertion": "Insertion",
    "road": "ROAD",
}
PARAMS = (
    link.choice("relevance", "none", TITLES),
    link.number("class", None, 0, 9999),
    link.choice("proof", "no", PROOFS),
)
SIGNED = ("gradient", "attnlrp")
SAYS: dict[Method, str] = {
    "rollout": "Attention followed through all layers, with half of each layer for the residual"
    " connection: how much of each patch reaches the class token. The same for every class.",
    "gradient": "Attention weights times their gradients of the class, over all layers and heads.",
    "chefer": "Positive attention times gradient, accumulated layer by layer (Chefer et al. 2021).",
    "attnlrp": "Layer-wise relevance propagation through every layer (Achtibat et al. 2024). Its"
    " authors call it a patented technology, free for personal and scientific use.",
}
PROOF = (
    "Left: the class’s probability falls by this much when the most relevant patches are greyed"
    " out; a faithful map falls sooner than random orders. Right: with the most relevant patches"
    " alone; a faithful map falls less. Grey bands: {orders} random orders."
)
PERTURBED: dict[str, tuple[str, str]] = {  # what happens, and the name of the x axis
    "deletion": (
        "Patches are greyed out one after another. If the map is faithful, the probability falls"
        " sooner with the most relevant ones first than in random orders.",
        "patches greyed out",
    ),
    "insertion": (
        "Patches are put back into the blurred picture. If the map is faithful, the probability"
        " rises sooner with the most relevant ones first than in random orders.",
        "patches put back",
    ),
    "road": (
        "Patches are replaced by what their surroundings suggest, so that no grey square tells the"
        " network where they were (Rong et al. 2022). If the map is faithful, the probability falls"
        " sooner with the most relevant ones first than with the least relevant ones first.",
        "patches replaced",
    ),
}
DOUBT = (
    "Pictures with grey patches are unlike those the network was trained on: a change does not"
    " prove a cause either."
)


@dataclass(frozen=True, eq=False)
class Explanation:
    """The relevance of every patch.

    Attributes:
        tokens: of every token, prefix first.
        chosen: id of the class.
        unassigned: part of the logit that no token gets; None where the method leaves none.
        value: of the logit; None for a method without a class.
    """

    tokens: np.ndarray
    chosen: int
    unassigned: float | None = None
    value: float | None = None


def show(page: str, request: tracing.Input, data: bytes) -> None:
    """The choice of a method, the relevance over the picture, and the curves of its proof."""
    with st.container(
        key=f"{page}_relevance", horizontal=True, vertical_alignment="bottom", gap="medium"
    ):
        help = "Which patches count for the network's answer, over all layers"
        method: Method = controls.choice(page, "relevance", "Relevance", TITLES, help)
        if method == "none":
            return
        names = _class_names(request)
        asked = _class(page, names)
        proof = controls.choice(
            page,
            "proof",
            "Proof",
            PROOFS,
            "Takes patches away in the order of the map, or puts them back, and measures what"
            " becomes of the answer; a large network takes a while",
        )
    try:
        model = network.opened(request.choice, request.device)
        asked = _likeliest(page, request, data) if asked is None else asked
        found = _explained(request, method, asked, model, data)
        _draw(page, request, data, model, method, found, names)
        if proof == "yes":
            _prove(page, request, data, model, method, found)
        elif proof != "no":
            _perturb(page, request, data, model, method, found, proof)
    except ValueError as error:
        shared.error_line(error)


def _class_names(request: tracing.Input) -> tuple[str, ...]:
    """Of a trained network: every class of every question, in the order of its logits."""
    card = cards.card(request.choice.model)
    return () if card is None else tuple(name for each in card.questions for name in each.classes)


def _question(request: tracing.Input, chosen: int) -> range | None:
    """The classes of the question that a class of a trained network answers."""
    card, first = cards.card(request.choice.model), 0
    for question in () if card is None else card.questions:
        classes = range(first, first + len(question.classes))
        if chosen in classes:
            return classes
        first = classes.stop
    return None


def _likeliest(page: str, request: tracing.Input, data: bytes) -> int:
    """The likeliest class, of the first question of a trained network."""
    logits = tracing.shown(request, data, pictures.name_in_code(page)).value.shown.output.values[0]
    question = _question(request, 0)
    return int((logits if question is None else logits[: question.stop]).argmax())


def _class(page: str, names: tuple[str, ...]) -> int | None:
    """The chosen class; None is the likeliest."""
    chosen = session.get(page, "class")
    if not names:
        return chosen
    titles = {None: "The likeliest", **dict(enumerate(names))}
    return controls.select(page, "class", "Class", titles, "What the patches count for", width=170)


def _draw(
    page: str,
    request: tracing.Input,
    data: bytes,
    model: "Model",
    method: Method,
    found: Explanation,
    names: tuple[str, ...],
) -> None:
    image, _ = tracing.fitted_image(request, data)
    side = request.choice.size // request.choice.patch
    patches = found.tokens[len(found.tokens) - side * side :].reshape(side, side)
    what = names[found.chosen] if found.chosen < len(names) else f"class {found.chosen}"
    of = "" if method == "rollout" else f" of {what}"
    note = "" if model.trained else ", untrained (random weights)"
    title = f"{model.name}{note}: {TITLES[method]}{of}"
    st.markdown(SAYS[method])
    figure = vision.overlay(patches, image, title=title, bar="relevance", signed=method in SIGNED)
    with charts.saved(page, "relevance", title, (SAYS[method],)):
        charts.chart(page, figure, "relevance", f"{title}. {SAYS[method]}")
    if found.unassigned is not None and found.value is not None:
        st.caption(
            f"The logit is {found.value:.4f}; {found.unassigned:.4f} of it is assigned to no token"
            " (biases and softmax keep it)."
        )


def _prove(
    page: str,
    request: tracing.Input,
    data: bytes,
    model: "Model",
    method: Method,
    found: Explanation,
) -> None:
    with st.spinner("Removing patches …"):
        curve = _faithful(request, method, found.chosen, model, found.tokens, data)
    whole = len(curve.random_comprehensiveness)
    st.markdown(PROOF.format(orders=whole))
    left, right = st.columns(2)
    shown = (
        (left, "removed", curve.comprehensiveness, curve.random_comprehensiveness, "removed"),
        (right, "kept", curve.sufficiency, curve.random_sufficiency, "kept"),
    )
    for place, name, values, random, verb in shown:
        lines = {TITLES[method]: values.numpy(), "random orders": random.mean(0).numpy()}
        band = random.amin(0).numpy(), random.amax(0).numpy()
        figure = curves(
            curve.counts.numpy(),
            lines,
            title=f"The most relevant patches {verb}",
            x=f"patches {verb}",
            y="drop of the probability",
            band=band,
            steps=True,
            height=320,
        )
        with place:
            charts.chart(page, figure, f"proof_{name}", f"Drop with patches {verb}.")
    means = [float(each.mean()) for each in (curve.comprehensiveness, curve.sufficiency)]
    others = [
        float(each.mean()) for each in (curve.random_comprehensiveness, curve.random_sufficiency)
    ]
    st.caption(
        f"Mean drop, removed: {means[0]:.4f} (random {others[0]:.4f}; more is faithful); kept:"
        f" {means[1]:.4f} (random {others[1]:.4f}; less is faithful). {DOUBT}"
    )


def _perturb(
    page: str,
    request: tracing.Input,
    data: bytes,
    model: "Model",
    method: Method,
    found: Explanation,
    kind: "Kind",
) -> None:
    with st.spinner("Changing patches …"):
        curve = _perturbed(request, method, found.chosen, kind, model, found.tokens, data)
    says, x = PERTURBED[kind]
    st.markdown(says)
    lines = {
        f"{TITLES[method]}, most relevant first": curve.curve.numpy(),
        "least relevant first": curve.reverse.numpy(),
        "random orders": curve.random.mean(0).numpy(),
    }
    figure = curves(
        curve.counts.numpy(),
        lines,
        title=f"{PROOFS[kind]}: probability of the class",
        x=x,
        y="probability",
        band=(curve.random.amin(0).numpy(), curve.random.amax(0).numpy()),
        steps=True,
        span=(0.0, 1.05),
        height=360,
    )
    charts.chart(page, figure, f"proof_{kind}", f"{PROOFS[kind]}. {says}")
    st.caption(
        f"Score, half the difference of the areas under the first two curves: {curve.score:+.4f}"
        " (above 0 is faithful, 0 says nothing). Grey band:"
        f" {len(curve.random)} random orders. {DOUBT}"
    )


@st.cache_resource(max_entries=16, show_spinner="Computing the relevance …")
def _explained(
    request: tracing.Input, method: Method, chosen: int, _model: "Model", _data: bytes
) -> Explanation:
    from analysis.relevance import explain
    from analysis.rollout import rollout
    from models.run import trace

    image, _ = tracing.fitted_image(request, _data)
    with shared.forward_pass(_model):
        if method not in ("gradient", "chefer", "attnlrp"):
            found = trace(_model, image)
            read = (
                slice(0, 1) if _model.network.config.head == "class" else slice(found.prefix, None)
            )
            return Explanation(rollout(found)[read].mean(0).numpy(force=True), chosen)
        made = explain(_model, image, target=chosen, method=method)
    tokens = made.tokens.numpy(force=True)
    return Explanation(tokens, made.chosen.id or 0, made.unassigned, made.value)


@st.cache_resource(max_entries=16, show_spinner=False)
def _faithful(
    request: tracing.Input,
    method: Method,
    chosen: int,
    _model: "Model",
    _tokens: np.ndarray,
    _data: bytes,
) -> "Faithfulness":
    import torch

    from analysis.faithfulness import faithfulness

    image, _ = tracing.fitted_image(request, _data)
    with shared.forward_pass(_model):
        among = _question(request, chosen)
        return faithfulness(_model, image, torch.tensor(_tokens), target=chosen, among=among)


@st.cache_resource(max_entries=16, show_spinner=False)
def _perturbed(
    request: tracing.Input,
    method: Method,
    chosen: int,
    kind: "Kind",
    _model: "Model",
    _tokens: np.ndarray,
    _data: bytes,
) -> "Perturbation":
    import torch

    from analysis.perturbation import perturbation

    image, _ = tracing.fitted_image(request, _data)
    among, relevance = _question(request, chosen), torch.tensor(_tokens)
    with shared.forward_pass(_model):
        return perturbation(_model, image, relevance, kind, target=chosen, among=among)
