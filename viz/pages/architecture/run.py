"""The Architecture page's network, built and run: cost said first, then its patterns."""

import hashlib
from typing import TYPE_CHECKING, Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from models.files.card import Example
from viz.pages import explorer, settings, shared
from viz.pages.architecture import blueprint
from viz.pages.architecture import cost as blueprint_cost
from viz.pages.architecture import given as blueprint_given
from viz.pages.architecture.blueprint import PAGE
from viz.pages.image import gallery, painter, picture
from viz.pages.state import params as link
from viz.pages.text import reading
from viz.pages.widgets import badge, known

if TYPE_CHECKING:
    from models.model import Config
    from models.run import Model

STYLE = """<style>
.st-key-architecture_source [data-testid="stFileUploaderDropzone"] {
  padding: 0 .5rem; min-height: 0; flex-direction: row; align-items: center; gap: .6rem; }
.st-key-architecture_source [data-testid="stFileUploaderDropzone"] button { min-height: 2.2rem; }
</style>"""


def show(name: str, config: "Config") -> None:
    """The input, what running it will cost, and the patterns.

    Args:
        name: of the preset it began as; if nothing was changed, a trained one keeps its weights.
        config: of the network.
    """
    st.html(STYLE)
    changed = blueprint.values() != blueprint.preset_values(name)
    model = "" if changed else blueprint.trained(name)
    _told(name, model)
    above, view = st.container(), st.container()
    with above:
        try:
            _run(config, model, view)
        except ValueError as error:
            explorer.hide(PAGE, view)
            shared.error_line(error)


def _run(config: "Config", model: str, view: DeltaGenerator) -> None:
    """The input, and what it looks like in the network, if this machine is to run it."""
    given = _input(config, model)
    if not blueprint_cost.allowed(config, _parts(config, given)):
        explorer.hide(PAGE, view)
        return
    with st.spinner("Building and running it …"):
        found = traced(config, model, shared.device(), given)
    for note in found.trace.notes:
        shared.notice(note)
    if picture.samples(model):
        gallery.answer(model, found.trace)
    with view.container():
        _explore(found, config, model, given, settings.controls(PAGE, _params()))


def _told(name: str, model: str) -> None:
    """What a trained model learned, and its own inputs; pictures stand with the pictures."""
    state = st.session_state
    if model:
        known.about(model)
    elif blueprint.trained(name):
        shared.notice("What was trained does not fit other sizes: its weights are random now.")
    if picture.samples(blueprint.trained(name)):
        return

    def take(example: Example) -> None:
        settings.say(PAGE, blueprint.given_by(name, example) | {"reads": "text"})
        explorer.overrule(PAGE)

    with st.container(key=f"{PAGE}_examples", horizontal=True, gap="xsmall"):
        for number, example in enumerate(blueprint.examples(name)):
            shown = example.input == state[f"{PAGE}_text"]
            kind = "primary" if shown else "secondary"
            key = f"{PAGE}_example_{number}"
            st.button(example.name, key=key, on_click=take, args=(example,), type=kind)


@st.fragment
def _explore(
    found: shared.Traced,
    config: "Config",
    model: str,
    given: tuple[Any, ...],
    drawn: dict[str, Any],
) -> None:
    """What the view asks for and chooses runs this alone."""
    settings.keep_up(PAGE, _params(), drawn, dropped=painter.is_dropped(PAGE))
    explorer.show(PAGE, found)
    select, device = explorer.selection(PAGE, found.trace), shared.device()
    badge.show(
        *(PAGE, found.trace, found.identity, select),
        lambda: (built(config, model, device), *blueprint_given.arguments(config, given)),
    )
    settings.to_link(PAGE, _params())


def _params() -> tuple[link.Param, ...]:
    return blueprint.params(blueprint.chosen())


def _parts(config: Any, given: tuple[Any, ...]) -> tuple[Any, ...]:
    """The parts for this very input.

    Raises:
        ValueError: for an input that is empty or too long.
    """
    from models.cost.count import parts
    from models.text import WordTokenizer, clean

    kind, *values = given
    if kind == "image":
        return parts(config)
    if kind == "ids":
        return parts(config, *(max(1, len(reading.numbers_in(text))) for text in values))
    texts = [clean(text)[0] for text in values]
    if not texts[0].strip():
        raise ValueError("there is no text to read: type a sentence")
    counts = [len(WordTokenizer(shared.VOCAB).encode(text)) for text in texts]
    counts[1:] = [count + 1 for count in counts[1:]]  # a target begins with its first symbol
    return parts(config, *counts)


@st.cache_resource(max_entries=2, show_spinner=False)
def built(config: "Config", model: str, device: str) -> "Model":
    """The network, built or loaded once and shared: nothing may change it."""
    from models.run import load

    return load(model or config, device=device)  # pyright: ignore[reportArgumentType]


@st.cache_resource(max_entries=6, show_spinner=False)
def traced(config: "Config", model: str, device: str, given: tuple[Any, ...]) -> shared.Traced:
    """One pass over one input: ("text", …), ("ids", …) or ("image", …)."""
    from models.run import trace
    from viz.pages.answers import thumbs

    network = built(config, model, device)
    with shared.forward_pass(network):
        done = trace(network, *blueprint_given.arguments(config, given))
    name = f"{config}|{model}|{device}|{given}".encode("utf-8", "replace")
    return shared.Traced(done, hashlib.sha256(name).hexdigest()[:12], thumbs(done))


def _input(config: "Config", model: str) -> tuple[Any, ...]:
    """What the network reads, from the controls."""
    from models.seq2seq import Seq2SeqConfig
    from models.vit import ViTConfig

    state = st.session_state
    if isinstance(config, ViTConfig):
        painter.take_dropped(PAGE)
        painter.source(PAGE, model)
        for line in painter.missing(PAGE):
            shared.error_line(line)
        painter.refused(PAGE)
        _, digest = picture.source(PAGE)
        return "image", digest, state[f"{PAGE}_fit"]
    pair = isinstance(config, Seq2SeqConfig)
    with st.container(key=f"{PAGE}_input", horizontal=True, vertical_alignment="bottom"):
        if _reads() == "ids":
            _box("ids", "Source ids" if pair else "Token ids")
            if pair:
                _box("answer_ids", "Target ids: what the decoder is given")
            names = ("ids", "answer_ids")
        else:
            _box("text", "Source" if pair else "Text")
            if pair:
                _box("answer", "Target: what the decoder is given; empty: it writes itself")
            names = ("text", "answer")
    return state[f"{PAGE}_reads"], *(state[f"{PAGE}_{name}"] for name in names[: 1 + pair])


def _reads() -> str | None:
    return st.segmented_control(
        "Input",
        ["text", "ids"],
        format_func={"text": "Text", "ids": "Token ids"}.__getitem__,
        key=f"{PAGE}_reads",
        required=True,
        persist_state="session",
    )


def _box(name: str, label: str) -> None:
    st.text_input(label, key=f"{PAGE}_{name}", live=True, persist_state="session", width="stretch")
