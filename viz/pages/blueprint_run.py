"""The Architecture page's network, built and run: cost said first, then its patterns."""

import hashlib
import re
from typing import TYPE_CHECKING, Any

import streamlit as st

from models.card import Example
from viz.pages import blueprint, blueprint_cost, explorer, gallery, known, painter, picture, shared
from viz.pages.blueprint import PAGE

if TYPE_CHECKING:
    from torch import Tensor

    from models.count import Config
    from models.run import Model
    from models.trace import Trace

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
    try:
        given = _input(config, model)
        if not blueprint_cost.allowed(config, _parts(config, given)):
            explorer.hide(PAGE)
            return
        with st.spinner("Building and running it …"):
            found = traced(config, model, shared.device(), given)
        for note in found.trace.notes:
            shared.notice(note)
        if picture.samples(model):
            gallery.answer(model, found.trace)
        _explore(found)
    except ValueError as error:
        explorer.hide(PAGE)
        shared.error_line(error)


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
        for setting, value in blueprint.given_by(name, example).items():
            state[f"{PAGE}_{setting}"] = value
        state[f"{PAGE}_reads"] = "text"
        explorer.overrule(PAGE)

    with st.container(key=f"{PAGE}_examples", horizontal=True, gap="xsmall"):
        for number, example in enumerate(blueprint.examples(name)):
            shown = example.input == state[f"{PAGE}_text"]
            kind = "primary" if shown else "secondary"
            key = f"{PAGE}_example_{number}"
            st.button(example.name, key=key, on_click=take, args=(example,), type=kind)


@st.fragment
def _explore(found: shared.Traced) -> None:
    """What the view asks for and chooses runs this alone."""
    from viz.pages import settings

    explorer.show(PAGE, found)
    settings.to_link(PAGE, blueprint.params(blueprint.chosen()))


def _parts(config: Any, given: tuple[Any, ...]) -> tuple[Any, ...]:
    """The parts for this very input.

    Raises:
        ValueError: for an input that is empty or too long.
    """
    from models.count import parts
    from models.text import WordTokenizer, clean

    kind, *values = given
    if kind == "image":
        return parts(config)
    if kind == "ids":
        return parts(config, *(max(1, len(_numbers(text))) for text in values))
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
    from viz.pages.answers import thumbs

    network = built(config, model, device)
    with shared.forward_pass(network):
        done = _traced(config, network, given)
    name = f"{config}|{model}|{device}|{given}".encode("utf-8", "replace")
    return shared.Traced(done, hashlib.sha256(name).hexdigest()[:12], thumbs(done))


def _traced(config: "Config", model: "Model", given: tuple[Any, ...]) -> "Trace":
    from models.run import trace

    kind, *values = given
    if kind == "image":
        return trace(model, _pixels(config, *values))
    if kind == "ids":
        return trace(model, *(_ids(each) for each in values))
    from models.text import clean

    return trace(model, *(clean(text)[0] for text in values if text.strip()))


def _pixels(config: Any, digest: str, how: picture.How) -> "Tensor":
    """The picture as the network's channels: of one, grey; of more than three, with zeros."""
    import torch

    from models.image import fit_image, to_pixels

    data, _ = picture.source(PAGE)
    image, _ = fit_image(picture.opened_image(digest, data), config.image, config.image, how)
    pixels = to_pixels(image)
    if config.channels == 1:
        return pixels.mean(1, keepdim=True)
    return torch.nn.functional.pad(pixels, (0, 0, 0, 0, 0, config.channels - 3))


def _ids(text: str) -> "Tensor":
    import torch

    return torch.tensor([_numbers(text)])


def _numbers(text: str) -> list[int]:
    words = re.findall(r"[^\s,;]+", text)
    if not words or not all(word.isascii() and word.isdigit() and len(word) < 9 for word in words):
        raise ValueError(f"token ids: expected numbers such as 1 5 9 2, received “{text[:40]}”")
    return [int(word) for word in words]


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
    st.text_input(
        label, key=f"{PAGE}_{name}", live="300ms", persist_state="session", width="stretch"
    )
