"""Builds and runs the Architecture page's network: first its cost, then its attention."""

from typing import TYPE_CHECKING

import streamlit as st

from models.presets import PRESETS
from models.request import Source, TraceRequest, built_from
from viz.api import samples, tracing
from viz.api.predictions import predicts
from viz.pages import shared
from viz.pages.architecture import compute, cost, inputs, network, presets
from viz.pages.architecture.presets import PAGE
from viz.pages.explore import answers, examples
from viz.pages.state import session
from viz.pages.widgets import attention, cards, controls, pictures, running

if TYPE_CHECKING:
    from models.card import Example
    from models.model import Config


def show(config: "Config") -> None:
    """The input, the predicted cost, and the attention of every head."""
    name = network.chosen()
    model = "" if network.changed() else presets.trained(name)
    with st.container(gap="small"):
        _introduce(name, model)
    params = (*presets.settings_of(name), *presets.selection_of(name))
    with attention.stage(PAGE, kind_of(config), params).reporting() as stage:
        given = inputs.choose(config)
        if cost.allowed(config, inputs.parts(config, given)):
            _draw(stage, TraceRequest(source(config, model), *given))
        else:
            stage.stale()


def source(config: "Config", model: str) -> Source:
    """The network: with trained weights, or built from its config."""
    device = shared.device()
    if model:
        return tracing.stamped(Source("catalogue", model, device=device))
    return built_from(PRESETS[network.chosen()].kind, config, device)


def stale(config: "Config") -> bool:
    """Dims the last picture; returns whether there is one. The link keeps the selection anyway."""
    name = network.chosen()
    params = (*presets.settings_of(name), *presets.selection_of(name))
    if not attention.has_drawn(PAGE):
        attention.address(PAGE, params)
        return False
    with attention.stage(PAGE, kind_of(config), params).reporting() as stage:
        stage.stale()
    return True


def kind_of(config: "Config") -> attention.Kind:
    """The kind of attention view for this network."""
    return "image" if isinstance(config, compute.ViTConfig) else "text"


def _introduce(name: str, model: str) -> None:
    """The description of a trained model, and its example texts."""
    if model:
        cards.about(model)
    elif presets.trained(name):
        shared.notice("The trained weights do not fit the changed sizes: the weights are random.")
    if samples.samples(presets.trained(name)):
        return
    with st.container(key=f"{PAGE}_examples", horizontal=True, gap="xsmall"):
        for number, example in enumerate(presets.examples(name)):
            selected = example.input == session.get(PAGE, "text")
            key = f"{PAGE}_example_{number}"
            controls.button(example.name, key, _take, name, example, chosen=selected)


def _take(name: str, example: "Example") -> None:
    """Sets the input of an example, and selects its head."""
    settings = presets.input_of(name, example) | {"reads": "text"}
    session.assign(PAGE, settings, presets.head_of(example))


def _draw(stage: attention.Stage, request: TraceRequest) -> None:
    run = running.Pass(PAGE, tracing.id_of(request), lambda: tracing.cost(request))
    if run.stopped:
        run.offer()
        stage.stale()
        return
    with st.spinner("Building and running it …"), run.progress() as progress:
        trace = tracing.traced(request, progress, shared.waiting(progress)).value
        held = tracing.entry_for(request)
    for note in trace.notes:
        shared.notice(note)
    done = tracing.notes_of(request)
    if done:
        st.caption(shared.plain(f"Preprocessing: {'; '.join(done)}."))
    model = request.model.catalogue
    if samples.samples(model):
        uploaded = pictures.has_upload(PAGE)
        example = None if uploaded else examples.pictures(model).get(session.get(PAGE, "photo"))
        answers.of_picture(model, trace, example)
    can_predict = request.picture is None and predicts(held.value)
    stage.show(held, panels=["predictions", "code"] if can_predict else ["code"])
