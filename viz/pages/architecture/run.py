"""Builds and runs the Architecture page's network: first its cost, then its attention."""

from functools import partial
from typing import TYPE_CHECKING, Any

import streamlit as st

from viz.api import registry
from viz.api.entries import Patches, TraceEntry, no_predictions
from viz.api.registry import Held
from viz.pages import picture, shared
from viz.pages.architecture import cost, inputs, network, presets
from viz.pages.architecture.inputs import Input
from viz.pages.architecture.presets import PAGE
from viz.pages.image import examples
from viz.pages.state import session
from viz.pages.text import predictions
from viz.pages.widgets import attention, cards, controls, snippet, verification

if TYPE_CHECKING:
    from models.card import Example
    from models.model import Config
    from models.run import Model
    from models.trace import Trace


def show(config: "Config") -> None:
    """The input, the predicted cost, and the attention of every head."""
    name = network.chosen()
    model = "" if network.changed() else presets.trained(name)
    with st.container(gap="small"):
        _introduce(name, model)
    params = (*presets.settings_of(name), *presets.selection_of(name))
    with attention.stage(PAGE, kind_of(config), params) as stage:
        request = inputs.choose(config)
        if cost.allowed(config, inputs.parts(config, request)):
            _draw(stage, config, model, request)
        else:
            stage.stale()


def stale(config: "Config") -> bool:
    """Dims the last picture; returns whether there is one. The link keeps the selection anyway."""
    name = network.chosen()
    params = (*presets.settings_of(name), *presets.selection_of(name))
    if not attention.has_drawn(PAGE):
        attention.address(PAGE, params)
        return False
    with attention.stage(PAGE, kind_of(config), params) as stage:
        stage.stale()
    return True


def kind_of(config: "Config") -> attention.Kind:
    """The kind of attention view for this network."""
    from models.vit import ViTConfig

    return "image" if isinstance(config, ViTConfig) else "text"


def _introduce(name: str, model: str) -> None:
    """The description of a trained model, and its example texts."""
    if model:
        cards.about(model)
    elif presets.trained(name):
        shared.notice("The trained weights do not fit the changed sizes: the weights are random.")
    if picture.samples(presets.trained(name)):
        return
    with st.container(key=f"{PAGE}_examples", horizontal=True, gap="xsmall"):
        for number, example in enumerate(presets.examples(name)):
            shown = example.input == session.get(PAGE, "text")
            key = f"{PAGE}_example_{number}"
            controls.button(example.name, key, _take, name, example, chosen=shown)


def _take(name: str, example: "Example") -> None:
    """Sets the input of an example, and selects its head."""
    settings = presets.input_of(name, example) | {"reads": "text"}
    session.assign(PAGE, settings, presets.head_of(example))


def _draw(stage: attention.Stage, config: "Config", model: str, request: Input) -> None:
    device = shared.device()
    with st.spinner("Building and running it …"):
        trace = traced(config, model, device, request)
        held = _held(trace, config, model, device, request)
    for note in trace.value.notes:
        shared.notice(note)
    if picture.samples(model):
        examples.answer(model, trace.value, examples.shown_on(PAGE, model))
    predicts = model and predictions.has_predictions(shared.Choice(model))
    stage.show(held, panels=["predictions", "code"] if predicts else ["code"])
    with stage.below:
        verification.button(
            PAGE,
            held.id,
            lambda: (built(config, model, device), *inputs.arguments(config, request)),
        )


@st.cache_resource(max_entries=2, show_spinner=False)
def built(config: "Config", model: str, device: str) -> "Model":
    """The network, built or loaded once and shared: it must not be modified."""
    from models.run import load

    return load(model or config, device=device)  # pyright: ignore[reportArgumentType]


def traced(config: "Config", model: str, device: str, request: Input) -> "Held[Trace]":
    """One forward pass over one input."""

    def run() -> "Trace":
        from models.run import trace

        made = built(config, model, device)
        with shared.forward_pass(made):
            return trace(made, *inputs.arguments(config, request))

    return registry.once(
        (PAGE, "trace", config, model, device, request), run, meanwhile=shared.waiting()
    )


def _held(
    trace: "Held[Trace]", config: Any, model: str, device: str, request: Input
) -> Held[TraceEntry]:
    """The registry entry of a trace."""

    def code(site: int, head: int | str) -> str:
        return _code(config, model, request, trace.value, site, head)

    def predict(site: int, direction: str, token: int | None) -> dict[str, Any]:
        known = predictions.vocabulary_of(built(config, model, device), trace.value)
        return predictions.at(known, trace.value, site, direction, token)

    def opened() -> "tuple[Model, Any, Any]":
        return (built(config, model, device), *inputs.arguments(config, request))

    def entry() -> TraceEntry:
        if request.kind == "image":
            encoded = picture.encoded(inputs.fitted(config, request)[0])
            dim = config.dim or config.channels * config.patch**2
            cut = Patches(encoded, config.patch, dim, config.order)
            return TraceEntry(trace.value, code, patches=cut)
        run = partial(shared.forward_pass, built(config, model, device))
        said = predict if model else no_predictions
        return TraceEntry(trace.value, code, said, run, opened=opened)

    return registry.once((PAGE, "view", config, model, device, request), entry, parent=trace)


def _code(
    config: Any, model: str, request: Input, trace: "Trace", site: int, head: int | str
) -> str:
    """Python code for the weights shown."""
    imports, lines, arguments = inputs.code(config, request)
    imports += "from models.run import load, trace\n"
    if not model:
        kind = type(config)
        imports += f"from {kind.__module__} import {kind.__name__}\n"
    return "\n".join(
        [
            imports,
            *lines,
            f"model = load({model or config!r})",
            f"t = trace(model, {arguments})",
            f"{snippet.weights_of(trace, site, head)}  # query × key",
        ]
    )
