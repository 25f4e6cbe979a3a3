"""Runs the Architecture page's network with random weights: its input, and all its heads."""

from typing import TYPE_CHECKING, Any

import streamlit as st

from models.presets import PRESETS
from models.request import Input, Picture, TraceRequest, built_from
from models.text import WordTokenizer, clean
from viz.api import samples, tracing
from viz.architecture import short
from viz.pages import compute, shared
from viz.pages.architecture import network, presets
from viz.pages.architecture.presets import PAGE
from viz.pages.explore.sizes import VOCAB
from viz.pages.widgets import attention, controls, entry, running

if TYPE_CHECKING:
    from models.model import Config

LARGE = 512 * 2**20  # bytes from which on a network is built on request only
TARGETS = {
    "seq2seq": "Target (leave empty to generate)",
    "layer": "Target (if empty, the source attends to itself)",
}


def show(config: "Config") -> None:
    """The input, and the attention of every head."""
    name = network.chosen()
    params = (*presets.settings_of(name), *presets.selection_of(name))
    with attention.stage(PAGE, _kind(name), params).reporting() as stage:
        given = _picture() if PRESETS[name].kind == "vit" else _texts(PRESETS[name].kind)
        if _allowed(config, given):
            text, target = given
            source = built_from(PRESETS[name].kind, config, shared.device())
            _draw(stage, TraceRequest(source, text, target or None))
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


def _texts(kind: str) -> tuple[Input, str]:
    """The text, and the target of a network that reads one."""
    with st.container(key=f"{PAGE}_input", horizontal=True, vertical_alignment="bottom"):
        first = entry.text(PAGE, "text", "Source" if kind in TARGETS else "Text")
        second = entry.text(PAGE, "answer", TARGETS[kind]) if kind in TARGETS else ""
    if not first.strip():
        raise ValueError("the text is empty: type a sentence")
    return clean(first)[0], clean(second)[0] if second.strip() else ""


def _picture() -> tuple[Picture, str]:
    """The choice of a photo."""
    photo = controls.choice(PAGE, "photo", "Photo", samples.TITLES, "", collapsed=True)
    return Picture(samples.file(photo)), ""


def _allowed(config: "Config", given: tuple[Input, str]) -> bool:
    """Whether the network was asked for, if it is large.

    Raises:
        ValueError: for an input that is too long, and a network too large for the memory.
    """
    memory = compute.peak_memory(_parts(config, given))
    shared.check_memory(memory)
    needed = short(memory, "memory")
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
    if running.is_stopped(PAGE, request):
        stage.stale()
        return
    with st.spinner("Building and running it …"):
        running.traced(PAGE, request)
        held = tracing.entry_for(request)
    for note in held.value.trace.notes:
        shared.notice(note)
    done = tracing.notes_of(request)
    if done:
        st.caption(shared.plain(f"Preprocessing: {'; '.join(done)}."))
    stage.show(held)
