"""Runs the Architecture page's network: its input, what that takes, and every head's attention."""

from typing import TYPE_CHECKING, Any

import streamlit as st

from models.presets import PRESETS
from models.request import Input, Picture, Source, TraceRequest, built_from
from models.text import WordTokenizer, clean
from viz.api import samples, tracing
from viz.api.predictions import predicts
from viz.architecture import short
from viz.pages import shared
from viz.pages.architecture import compute, network, presets
from viz.pages.architecture.presets import PAGE
from viz.pages.explore import answers, examples
from viz.pages.explore.sizes import VOCAB
from viz.pages.state import session
from viz.pages.widgets import attention, cards, controls, entry, pictures, running

if TYPE_CHECKING:
    from models.card import Example
    from models.model import Config

LARGE = 512 * 2**20  # bytes from which on a network is built on request only
TARGETS = {
    "seq2seq": "Target (leave empty to generate)",
    "layer": "Target (if empty, the source attends to itself)",
}


def show(config: "Config") -> None:
    """The input, and the attention of every head."""
    name = network.chosen()
    model = "" if network.changed() else presets.trained(name)
    with st.container(gap="small"):
        _introduce(name, model)
    params = (*presets.settings_of(name), *presets.selection_of(name))
    with attention.stage(PAGE, _kind(name), params).reporting() as stage:
        given = _picture(name) if PRESETS[name].kind == "vit" else _texts(PRESETS[name].kind)
        if _allowed(config, given):
            text, target = given
            _draw(stage, TraceRequest(_source(config, model), text, target or None))
        else:
            stage.stale()


def stale() -> bool:
    """Dims the last picture; returns whether there is one. The link keeps the selection anyway."""
    name = network.chosen()
    params = (*presets.settings_of(name), *presets.selection_of(name))
    if not attention.has_drawn(PAGE):
        attention.address(PAGE, params)
        return False
    attention.stage(PAGE, _kind(name), params).stale()
    return True


def _kind(name: str) -> attention.Kind:
    return "image" if PRESETS[name].kind == "vit" else "text"


def _source(config: "Config", model: str) -> Source:
    """The network: with trained weights, or built from its config."""
    device = shared.device()
    if model:
        return tracing.stamped(Source("catalogue", model, device=device))
    return built_from(PRESETS[network.chosen()].kind, config, device)


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
    session.assign(PAGE, presets.input_of(name, example), presets.head_of(example))


def _texts(kind: str) -> tuple[Input, str]:
    """The text, and the target of a network that reads one."""
    with st.container(key=f"{PAGE}_input", horizontal=True, vertical_alignment="bottom"):
        first = entry.text(PAGE, "text", "Source" if kind in TARGETS else "Text")
        second = entry.text(PAGE, "answer", TARGETS[kind]) if kind in TARGETS else ""
    if not first.strip():
        raise ValueError("the text is empty: type a sentence")
    return clean(first)[0], clean(second)[0] if second.strip() else ""


def _picture(name: str) -> tuple[Picture, str]:
    """The choice of a picture."""
    known = examples.pictures(presets.trained(name))
    with st.container(key=f"{PAGE}_pictures", horizontal=True, vertical_alignment="bottom"):
        for label, key, chosen, *action in pictures.buttons(PAGE, known):
            controls.button(label, key, *action, chosen=chosen)
        for draw in pictures.uploads(PAGE, known):
            draw()
        pictures.chip(PAGE, "Your picture")
    for problem in pictures.problems(PAGE):
        shared.error_line(problem)
    return Picture(pictures.current(PAGE)), ""


def _allowed(config: "Config", given: tuple[Input, str]) -> bool:
    """Whether the network fits into the memory and, if it is large, was asked for.

    Raises:
        ValueError: for an input that is too long.
    """
    memory = compute.peak_memory(_parts(config, given))
    free, needed = compute.memory_check.available_memory(), short(memory, "memory")
    if free is not None and memory > compute.memory_check.SHARE * free:
        free_words = short(free, "memory")
        shared.error_line(
            f"This needs about {needed} of memory, but only {free_words} are free: make it smaller."
        )
        return False
    if memory < LARGE or st.session_state.get(f"{PAGE}/asked") == repr(config):
        return True
    st.caption(f"Running it takes about {needed} of memory, so it runs on request only.")
    controls.button(f"Build it ({needed})", f"{PAGE}_build", _ask, repr(config))
    return False


def _ask(network: str) -> None:
    st.session_state[f"{PAGE}/asked"] = network


def _parts(config: "Config", given: tuple[Input, str]) -> tuple[Any, ...]:
    """The parts of the network for this input."""
    if isinstance(given[0], Picture):
        return compute.parts(config)
    reader = WordTokenizer(VOCAB)
    counts = [len(reader.encode(str(each))) for each in given if each]
    if isinstance(config, compute.Seq2SeqConfig) and counts[1:]:
        counts[1] += 1  # a target begins with its first symbol
    return compute.parts(config, *counts)


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
