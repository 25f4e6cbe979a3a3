"""Text: a sentence, and where every head of a model looks."""

from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from viz import link
from viz.pages import (
    badge,
    builder,
    examples,
    explorer,
    known,
    opening,
    reading,
    settings,
    shared,
    snippet,
    words,
    written,
)

PAGE = "text"
FIRST = examples.EXAMPLES[0]
SOON = 0.4  # seconds


def params(model: str) -> tuple[link.Param, ...]:
    """The page's settings; what is as in the model's first example is not in the link."""
    first = examples.of(model)[0]
    return (
        link.text("input", first.input),
        link.text("target", first.target or ""),
        *builder.PARAMS,
        *words.PARAMS,
        link.choice("cut", "no", ("no", "yes")),
        link.number("layer", first.layer, 0, 99),
        link.choice("attention", first.kind, explorer.KINDS),
        link.number_or("head", first.head, 99, ("mean", "max")),
        link.number("token", first.query, 0, 9999),
        link.choice("direction", "out", ("out", "in")),
        link.choice("scale", "fixed", ("fixed", "own")),
    )


def _params() -> tuple[link.Param, ...]:
    return params(st.session_state[f"{PAGE}_model"])


def _from_link() -> list[str]:
    return settings.from_link(PAGE, params(link.value(builder.MODEL, st.query_params.to_dict())))


@st.fragment
def page() -> None:
    with st.container(gap="small"):
        _page()


def _page() -> None:
    _from_link()
    st.markdown("#### What does every head look at?")
    with st.container(key="text_top", horizontal=True, vertical_alignment="bottom", gap="medium"):
        st.text_input(
            "Type a sentence; the picture follows",
            key="text_input",
            live=True,  # Streamlit imports pandas to read a duration
            persist_state="session",
            width="stretch",
        )
        builder.model(PAGE, examples.follow)
        words.choose(PAGE)
    examples.buttons(PAGE)
    _network()


@st.fragment
def _network() -> None:
    """The network's controls and its picture: moving one leaves the rest of the page alone.

    The picture is what is waited for, so it is made before the controls above it are drawn.
    """
    problems = _from_link()
    with st.container(gap="small"):
        above = st.container(key="text_above", gap="small")
        notes = st.container(key="text_notes", gap="small")
        picture = st.container(key="text_picture")
    choice = builder.chosen(PAGE)
    with notes:
        try:
            with st.spinner("Loading the model …"):
                _show(choice, picture)
        except ValueError as error:
            explorer.hide(PAGE, picture)
            shared.error_line(error)
        known.about(choice.model)
        examples.look(PAGE, choice)
    with above:
        for problem in problems:
            shared.error_line(problem)
        builder.controls(PAGE)
        written.target(PAGE, choice)
    settings.tell(PAGE)
    settings.to_link(PAGE, _params())


def _show(choice: shared.Choice, picture: DeltaGenerator) -> None:
    kept = opening.kept() if _is_opening() and not shared.ready() else None
    if kept is not None:
        with picture.container():
            _foreshow(choice, kept)
        return
    if not shared.warm():
        with picture.container():
            explorer.wait(PAGE)
        return
    device = shared.device()
    text = reading.readable(PAGE, choice, device, st.session_state.text_input)
    if text is None:
        explorer.hide(PAGE, picture)
        return
    target = written.given(PAGE, choice)
    found = shared.traced(choice, device, text, target)
    written.answer(choice, found.trace, target)
    with picture.container():
        _explore(choice, text, target, found, settings.controls(PAGE, _params()))


def _foreshow(choice: shared.Choice, kept: bytes) -> None:
    """The picture of the last start while PyTorch is imported."""
    explorer.foreshow(PAGE, shared.identity(choice, shared.device(), FIRST.input), kept)
    st.caption("The model is being loaded: what you change now follows in a moment.")
    shared.warm_soon()
    _go_on()


@st.fragment(run_every=SOON)
def _go_on() -> None:
    """Draws the page anew when the model is there."""
    if shared.ready():
        st.rerun()


def _is_opening() -> bool:
    """Whether the page stands as the app opens."""
    changed = settings.written(PAGE, _params()) or st.session_state.get("projector")
    return not changed and shared.device() == "cpu"


@st.fragment
def _explore(
    choice: shared.Choice, text: str, target: str, found: shared.Traced, drawn: dict[str, Any]
) -> None:
    """The part that answers the browser's questions, without the rest of the page."""
    settings.keep_up(PAGE, _params(), drawn)
    found = words.seen(PAGE, found)
    explorer.show(PAGE, found)
    select = explorer.selection(PAGE, found.shown)
    if _is_opening():
        opening.keep(lambda: explorer.everything(found, select))
    device = shared.device()
    badge.show(
        PAGE,
        found.trace,
        found.identity,
        select,
        lambda: (shared.opened(choice, device), text, target or None),
    )
    written.likely(choice, found.trace, words.by_token(found, select))
    snippet.show(choice, text, target, found.trace, select, found.view)
    settings.to_link(PAGE, _params())


page()
