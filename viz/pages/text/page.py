"""Text: a sentence, and where every head of a model looks."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

import streamlit as st

from viz.pages import reading, shared
from viz.pages.state import link_on_entry, selected, session
from viz.pages.state import params as link
from viz.pages.text import builder, examples, pairs, predictions, tracing, words
from viz.pages.widgets import attention, cards, entry, verification

PAGE = "text"
PATHS = ("/",)
KINDS = ("self", "causal", "cross", "joint")  # of attention
FILES = (".txt", ".md")
SHORT = 8000  # characters of a text whose forward pass takes less than a second


def params(model: str, text: str | None = None) -> tuple[link.Param, ...]:
    """The page's settings; defaults are those of the model's first example.

    Args:
        model: of the catalogue, or BUILT.
        text: of the user; None for the first example's. Any other text pins no token by default.
    """
    first = examples.of(model)[0]
    pinned = first.query if text in (None, first.input) else None
    return (
        link.text("input", first.input),
        link.text("pair", ""),
        link.text("target", first.target or ""),
        *builder.PARAMS,
        *words.PARAMS,
        link.number("layer", first.layer, 0, 99),
        link.choice("attention", first.kind, KINDS),
        link.number_or("head", first.head, 99, ("mean", "max")),
        link.number("token", pinned, 0, 99_999),
        link.choice("direction", "out", ("out", "in")),
        link.choice("scale", "fixed", selected.SCALES),
        *selected.FORMS,
        link.retired("cut"),
    )


def params_of(query: Mapping[str, str]) -> tuple[link.Param, ...]:
    """The parameters of a link; their defaults depend on its model."""
    text = "" if f"input{link.HASH}" in query else query.get("input")
    return params(link.value(builder.MODEL, query), text)


def page() -> None:
    """Draws the page."""
    problems = link_on_entry.enter(PAGE, params_of).problems
    words.settle(PAGE)
    choice, text = builder.chosen(PAGE), session.get(PAGE, "input")
    above = attention.controls(PAGE)
    soon = len(text) <= SHORT and attention.shows(PAGE, choice.model)
    if not soon:
        with above:
            _controls(choice, problems)
    with attention.stage(PAGE, "text", params(choice.model, text), PATHS) as stage:
        _show(choice, stage, soon)
    if soon:  # the browser has nearly all of the controls, and waits for the picture
        stage.let_paint()
        with above:
            _controls(choice, problems)


def _controls(choice: shared.Choice, problems: Iterable[str]) -> None:
    """Draws the controls above the view."""
    with st.container(key="text_heading", horizontal=True, vertical_alignment="center"):
        st.markdown("#### What does every head look at?", width="content")
        examples.buttons(PAGE)
    with st.container(key="text_top", horizontal=True, gap="small"):
        entry.text(
            PAGE,
            "input",
            "Type a sentence; the picture follows",
            placeholder="Type a sentence, paste a text, or open a file; the picture follows",
            multiline=True,
            bare=True,
            files=FILES,
        )
        pairs.second_entry(PAGE, choice)
        predictions.target_entry(PAGE, choice)
        builder.model(PAGE, lambda: examples.follow(PAGE))
    builder.controls(PAGE)
    with st.container(key="text_tools", horizontal=True, vertical_alignment="center", gap="medium"):
        words.choose(PAGE, words.of_catalogue(choice.model))
        examples.caption(PAGE)
        cards.folded(choice.model)
    for problem in problems:
        shared.error_line(problem)


def _show(choice: shared.Choice, stage: attention.Stage, soon: bool) -> None:
    """Traces the text and shows the view.

    Args:
        choice: the model.
        stage: of the view.
        soon: whether the browser asks for the picture while the model runs.
    """
    device = shared.device()
    text, notes = reading.readable(
        session.get(PAGE, "input"),
        lambda: (shared.tokenizer(choice, device), shared.opened(choice, device).limit),
    )
    if notes:
        shared.notice(" ".join(notes))
    if not text:
        shared.notice("Type a sentence, or choose an example.")
        stage.stale()
        return
    target, pair = predictions.target(PAGE, choice), pairs.second(PAGE, choice)
    request = tracing.Input(choice, device, text, target, pair)
    run = tracing.pass_of(PAGE, request)
    if run.stopped:
        run.offer()
        stage.stale()
        return
    by = words.chosen(PAGE, words.of_catalogue(choice.model))
    panels = ["predictions", "code"] if predictions.has_predictions(choice) else ["code"]
    network = replace(choice, seed=0)
    with tracing.expecting(request, *by) as expected:
        if soon:
            stage.expect(expected, network, panels)
        with run.progress() as progress:
            tracing.traced(request, progress)
        held = tracing.shown(request, *by)
    trace = tracing.traced(request).value
    predictions.answer(choice, trace, request.target)
    predictions.continued(predictions.vocabulary_of(shared.opened(choice, device), trace), trace)
    stage.show(held, of=choice.model, network=network, panels=panels)
    with stage.below:
        verification.button(
            PAGE,
            held.id,
            lambda: (shared.opened(choice, device), request.source, request.target or None),
        )
