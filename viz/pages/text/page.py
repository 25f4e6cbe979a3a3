"""Text: a sentence, and where every head of a model looks."""

from collections.abc import Iterable, Mapping

import streamlit as st

from viz.pages import shared
from viz.pages.state import params as link
from viz.pages.state import session
from viz.pages.text import builder, examples, pairs, predictions, reading, tracing, words
from viz.pages.widgets import attention, cards, entry, verification

PAGE = "text"
PATHS = ("/",)
KINDS = ("self", "causal", "cross", "joint")  # of attention


def params(model: str) -> tuple[link.Param, ...]:
    """The page's settings; defaults are those of the model's first example."""
    first = examples.of(model)[0]
    return (
        link.text("input", first.input),
        link.text("pair", ""),
        link.text("target", first.target or ""),
        *builder.PARAMS,
        *words.PARAMS,
        link.number("layer", first.layer, 0, 99),
        link.choice("attention", first.kind, KINDS),
        link.number_or("head", first.head, 99, ("mean", "max")),
        link.number("token", first.query, 0, 9999),
        link.choice("direction", "out", ("out", "in")),
        link.choice("scale", "fixed", attention.SCALES),
        *attention.FORMS,
        link.retired("cut"),
    )


def params_of(query: Mapping[str, str]) -> tuple[link.Param, ...]:
    """The parameters of a link; their defaults depend on its model."""
    return params(link.value(builder.MODEL, query))


def page() -> None:
    """Draws the page."""
    problems = session.enter(PAGE, params_of).problems
    st.markdown("#### What does every head look at?")
    with attention.controls(PAGE):
        choice = _controls(problems)
    with attention.stage(PAGE, "text", params(choice.model), PATHS) as stage:
        _show(choice, stage)


def _controls(problems: Iterable[str]) -> shared.Choice:
    """Draws the controls above the view; returns the selected model."""
    with st.container(key="text_top", horizontal=True, vertical_alignment="bottom", gap="medium"):
        entry.text(PAGE, "input", "Type a sentence; the picture follows", multiline=True)
        builder.model(PAGE, lambda: examples.follow(PAGE))
        words.choose(PAGE)
    examples.buttons(PAGE)
    builder.controls(PAGE)
    choice = builder.chosen(PAGE)
    pairs.second_entry(PAGE, choice)
    predictions.target_entry(PAGE, choice)
    for problem in problems:
        shared.error_line(problem)
    cards.about(choice.model)
    examples.caption(PAGE)
    return choice


def _show(choice: shared.Choice, stage: attention.Stage) -> None:
    """Traces the text and shows the view."""
    device = shared.device()
    text, notes = reading.readable(choice, device, session.get(PAGE, "input"))
    for note in notes:
        shared.notice(note)
    if not text:
        shared.notice("Type a sentence, or choose an example.")
        stage.stale()
        return
    target, pair = predictions.target(PAGE, choice), pairs.second(PAGE, choice)
    request = tracing.Input(choice, device, text, target, pair)
    by, special = session.get(PAGE, "words"), session.get(PAGE, "special")
    held = tracing.shown(request, by, special)
    predictions.answer(choice, tracing.traced(request).value, request.target)
    named = predictions.has_predictions(choice)
    stage.show(held, panels=["predictions", "code"] if named else ["code"])
    with stage.below:
        verification.button(
            PAGE,
            held.id,
            lambda: (shared.opened(choice, device), request.source, request.target or None),
        )
