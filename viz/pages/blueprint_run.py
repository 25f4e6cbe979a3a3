"""The Architecture page's network, built and run: cost said first, then its patterns."""

import hashlib
import time
from typing import TYPE_CHECKING, Any

import streamlit as st

from viz.architecture import short
from viz.pages import (
    badge,
    blueprint,
    blueprint_fixes,
    blueprint_given,
    explorer,
    memory,
    painter,
    picture,
    reading,
    shared,
)
from viz.pages.blueprint import PAGE
from viz.pages.blueprint_controls import change

if TYPE_CHECKING:
    from models.count import Config
    from models.run import Model

SECONDS_A_WEIGHT = 8e-9  # to draw a random number
LARGE = 512 * 2**20  # bytes from which on a network is only built when asked for
SLOW = 4.0  # seconds, the same
STYLE = """<style>
.st-key-architecture_source [data-testid="stFileUploaderDropzone"] {
  padding: 0 .5rem; min-height: 0; flex-direction: row; align-items: center; gap: .6rem; }
.st-key-architecture_source [data-testid="stFileUploaderDropzone"] button { min-height: 2.2rem; }
</style>"""
WASTE = 2.0  # a pass takes longer than its matrix products


def show(config: "Config") -> None:
    """The input, what running it will cost, and the patterns."""
    st.html(STYLE)
    try:
        given = _input(config)
        if not _allowed(config, _parts(config, given)):
            explorer.hide(PAGE)
            return
        with st.spinner("Building and running it …"):
            found = traced(config, shared.device(), given)
        for note in found.trace.notes:
            shared.notice(note)
        _explore(found, config, given)
    except ValueError as error:
        explorer.hide(PAGE)
        shared.error_line(error)


@st.fragment
def _explore(found: shared.Traced, config: "Config", given: tuple[Any, ...]) -> None:
    """What the view asks for and chooses runs this alone."""
    from viz.pages import settings

    explorer.show(PAGE, found)
    select, device = explorer.selection(PAGE, found.trace), shared.device()
    badge.show(
        *(PAGE, found.trace, found.identity, select),
        lambda: (built(config, device), *blueprint_given.arguments(config, given)),
    )
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
        return parts(config, *(max(1, len(reading.numbers_in(text))) for text in values))
    texts = [clean(text)[0] for text in values]
    if not all(text.strip() for text in texts):
        raise ValueError("there is no text to read: type a sentence")
    counts = [len(WordTokenizer(shared.VOCAB).encode(text)) for text in texts]
    counts[1:] = [count + 1 for count in counts[1:]]  # a target begins with its first symbol
    return parts(config, *counts)


def _allowed(config: "Config", parts: tuple[Any, ...]) -> bool:
    """Says what it costs; whether there is room for it and, if it is a lot, it was asked for."""
    from models.count import needed

    room, wanted, seconds = memory.available(), needed(parts), predicted(parts)
    said = f"about {short(wanted, 'memory')} of memory and {_time(seconds)}"
    if room is not None and wanted > memory.SHARE * room:
        shared.error_line(
            f"This needs {said}, and {short(room, 'memory')} are free: make it smaller."
        )
        _offer(memory.SHARE * room)
        return False
    state, name = st.session_state, repr(config)
    if wanted < LARGE and seconds < SLOW:
        st.caption(f"Building and running it takes {said}.")
        return True
    if state.get(f"{PAGE}_wanted_network") == name:
        return True
    st.caption(f"Building and running it takes {said}, so it is only done when asked for.")

    def ask() -> None:
        state[f"{PAGE}_wanted_network"] = name

    st.button(f"Build it ({short(wanted, 'memory')})", key=f"{PAGE}_build", on_click=ask)
    return False


def _offer(room: float) -> None:
    """Buttons for smaller networks that fit."""
    from models.count import needed, parts

    def fits(made: Any, said: blueprint_fixes.Values) -> bool:
        return needed(parts(made, *blueprint.sizes(said))) <= room

    with st.container(key=f"{PAGE}_smaller", horizontal=True, gap="small"):
        for number, fix in enumerate(blueprint_fixes.smaller(fits)):
            st.button(fix.label, key=f"{PAGE}_fit_{number}", on_click=change, args=(fix.changes,))


def predicted(parts: tuple[Any, ...]) -> float:
    """Seconds to draw the weights and run one pass."""
    from models.count import total

    work = WASTE * total(parts, "flops") / speed(shared.device())
    return SECONDS_A_WEIGHT * total(parts, "parameters") + work + 0.02


@st.cache_resource(max_entries=4, show_spinner=False)
def speed(device: str) -> float:
    """Operations a second of a matrix product, measured once."""
    import torch

    size = 384
    matrix = torch.ones(size, size, device=device)
    seconds = []
    for _ in range(4):
        start = time.perf_counter()
        float((matrix @ matrix)[0, 0])
        seconds.append(time.perf_counter() - start)
    return 2 * size**3 / max(min(seconds), 1e-7)


def _time(seconds: float) -> str:
    return "less than a second" if seconds < 1 else f"{seconds:,.0f} s"


@st.cache_resource(max_entries=2, show_spinner=False)
def built(config: "Config", device: str) -> "Model":
    """The network, built once and shared: nothing may change it."""
    from models.run import load

    return load(config, device=device)  # pyright: ignore[reportArgumentType]


@st.cache_resource(max_entries=6, show_spinner=False)
def traced(config: "Config", device: str, given: tuple[Any, ...]) -> shared.Traced:
    """One pass over one input: ("text", …), ("ids", …) or ("image", …)."""
    from models.run import trace
    from viz.pages.answers import thumbs

    model = built(config, device)
    with shared.forward_pass(model):
        done = trace(model, *blueprint_given.arguments(config, given))
    name = f"{config}|{device}|{given}".encode("utf-8", "replace")
    return shared.Traced(done, hashlib.sha256(name).hexdigest()[:12], thumbs(done))


def _input(config: "Config") -> tuple[Any, ...]:
    """What the network reads, from the controls."""
    from models.seq2seq import Seq2SeqConfig
    from models.vit import ViTConfig

    state = st.session_state
    if isinstance(config, ViTConfig):
        painter.source(PAGE)
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
                _box("answer", "Target: what the decoder is given")
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
