"""Image: a picture, its patches, and where every head of a vision transformer looks."""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from viz.api import registry
from viz.pages import picture, shared
from viz.pages.frame.registry import page as page_of
from viz.pages.image import (
    beside,
    controls,
    cost,
    examples,
    figures,
    network,
    relevance,
    tracing,
)
from viz.pages.shared import BUILT
from viz.pages.state import link_on_entry, selected, session
from viz.pages.state import params as link
from viz.pages.widgets import attention, pictures, verification

PAGE = "image"
SCALES = ("layer", "own", "fixed", "log")


def params(
    model: str = "", photo: str = "flower", selection: Mapping[str, Any] | None = None
) -> tuple[link.Param, ...]:
    """The page's settings and its view's selection.

    Args:
        model: default network; "" means that every link names one.
        photo: default picture.
        selection: default selection of the view.
    """
    first = {"layer": 0, "head": 0, "token": 0, "direction": "out", **(selection or {})}
    return (
        link.choice("photo", photo, picture.PICTURES),
        *pictures.PARAMS,
        link.choice("model", model, network.TITLES),
        *controls.PARAMS,
        beside.PARAM,
        link.number("layer", first["layer"], 0, 99),
        link.number_or("head", first["head"], 99, ("mean", "max")),
        link.number("token", first["token"], 0, 9999),
        link.choice("direction", first["direction"], ("out", "in")),
        link.choice("scale", "layer", SCALES),
        *relevance.PARAMS,
        *figures.PARAMS,
        selected.SINKS,
        *selected.OVERLAY,
    )


def params_of(query: Mapping[str, str]) -> tuple[link.Param, ...]:
    """The parameters of a link; without a picture, the defaults are those of its network.

    Links without a network date from when the page opened with a network built here.
    """
    own = {name: text for name, text in query.items() if name not in session.APP_NAMES}
    model = link.value(link.choice("model", BUILT if own else network.FIRST, network.TITLES), own)
    pictures_of_it = examples.of(model)
    name, example = next(iter(pictures_of_it.items()))
    if own.get("photo") in pictures_of_it or "upload" in own or example is None:
        return params(model)
    return params(model, name, pictures.selection_of(example))


def page() -> None:
    """Draws the page."""
    problems = link_on_entry.enter(PAGE, params_of).problems
    pictures.take(PAGE)
    examples.settle(PAGE)
    st.markdown("#### Where does every head look?")
    with attention.controls(PAGE):
        with st.container(key=f"{PAGE}_pictures", horizontal=True, vertical_alignment="bottom"):
            controls.model(PAGE, lambda: examples.follow(PAGE))
            pictures.choose(PAGE, examples.of(session.get(PAGE, "model")))
            if session.get(PAGE, "model") != network.OWN:
                beside.choose(PAGE)
        controls.sizes(PAGE)
        if session.get(PAGE, "model") != network.OWN:
            controls.fit(PAGE)
        for problem in (*problems, *pictures.problems(PAGE)):
            shared.error_line(problem)
        examples.caption(PAGE)
    with attention.stage(PAGE, "image", params()) as stage:
        _show(stage)


def _show(stage: attention.Stage) -> None:
    """Traces the picture and shows the view."""
    if session.get(PAGE, "model") == network.OWN:
        st.markdown("The Models page opens a folder or any model of the hub in this view.")
        st.page_link(page_of("models"), label="Open your own ViT", icon=":material/folder_open:")
        stage.stale()
        return
    choice, device = controls.chosen(PAGE), shared.device()
    if not cost.allowed(PAGE, choice, device):
        stage.stale()
        return
    data, digest = pictures.current(PAGE)
    request = tracing.Input(choice, device, digest, session.get(PAGE, "fit"))
    name = pictures.name_in_code(PAGE)
    run = cost.pass_of(PAGE, registry.id_of(tracing.key_of(request, name)), choice, device)
    if run.stopped:
        run.offer()
        stage.stale()
        return
    with st.spinner("Running the network …"), run.progress() as progress:
        held = tracing.shown(request, data, name, progress)
        second = beside.second(PAGE, request, data)
        other = second and beside.shown(second)
    image, notes = tracing.fitted_image(request, data)
    if notes:
        st.caption(shared.plain("Preprocessing: " + "; ".join(notes) + "."))
    model = session.get(PAGE, "model")
    example = examples.shown_on(PAGE, model)
    if second is None or other is None:
        examples.answer(model, held.value.trace, example)
        stage.show(held, panels=["code"])
    else:
        examples.answer(model, held.value.trace, example, second.titles[0])
        examples.answer(
            second.request.choice.model, other.value.trace, second.example, second.titles[1]
        )
        stage.show(held, panels=["code"], more=beside.props(second.titles, other))
    with stage.below:
        verification.button(PAGE, held.id, lambda: (network.opened(choice, device), image, None))
        relevance.show(PAGE, relevance.of_choice(request, data, held.value.trace))
        figures.show(PAGE, request, data)
