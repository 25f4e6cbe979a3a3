"""Models: open a checkpoint, read its card and tensors, and see where its heads look."""

from collections.abc import Mapping

import streamlit as st

from viz.pages import shared
from viz.pages.image import relevance
from viz.pages.models import (
    beside,
    card,
    chooser,
    inputs,
    over_picture,
    own_relevance,
    recordings,
    tracing,
)
from viz.pages.models import download as fetching
from viz.pages.models.source import PAGE, Open
from viz.pages.state import link_on_entry, selected, session
from viz.pages.state import params as link
from viz.pages.text import predictions, words
from viz.pages.widgets import attention, pictures, verification

KINDS = ("self", "causal", "cross", "joint")  # of attention
SCALES = {"text": "fixed", "image": "layer"}  # default of each kind of view


def params(
    model: str, query: Mapping[str, str], kind: attention.Kind | None = None
) -> tuple[link.Param, ...]:
    """The page's settings and its view's selection.

    Args:
        model: of the catalogue; "" for any other.
        query: the settings in the link.
        kind: of the view; None while it is unknown.
    """
    scale = link.choice("scale", SCALES.get(kind or "", ""), (*selected.SCALES, "layer"))
    return (
        *_settings(model),
        chooser.shelf(query),
        link.number("layer", 0, 0, 999),
        link.choice("attention", "self", KINDS),
        *selected.SITE,
        link.number_or("head", 0, 999, ("mean", "max")),
        link.number("token", None, 0, 9999),
        link.choice("direction", "out", ("out", "in")),
        scale,
        *selected.FORMS,
        *selected.OVERLAY,
    )


def params_of(query: Mapping[str, str]) -> tuple[link.Param, ...]:
    """The parameters of a link; the default text depends on its model."""
    place, model = link.value(chooser.PLACE, query), link.value(chooser.MODEL, query)
    model = model if place == "catalogue" else ""
    names = {name for each in _settings(model) for name in (each.name, each.name + link.HASH)}
    return params(model, {name: query[name] for name in names & query.keys()})


def _settings(model: str) -> tuple[link.Param, ...]:
    """The page's settings, the chooser aside."""
    given = (*inputs.params(model), *words.PARAMS)
    over = (*over_picture.PARAMS, *relevance.PARAMS, beside.PARAM)
    return (*chooser.PARAMS, *card.PARAMS, *given, *over)


def _now(model: str, kind: attention.Kind) -> tuple[link.Param, ...]:
    """The parameters, with the defaults of the present settings."""
    return params(model, session.query_of(PAGE, _settings(model)), kind)


def page() -> None:
    """Draws the page."""
    problems = link_on_entry.enter(PAGE, params_of).problems
    pictures.take(PAGE)
    recordings.take()
    with attention.controls(PAGE):
        wanted = chooser.choose(inputs.follow)
        for problem in problems:
            shared.error_line(problem)
    model = wanted.name if wanted.place == "catalogue" else ""
    with attention.stage(PAGE, "text", _now(model, "text")) as stage:
        found = chooser.first_that_opens(wanted)
        if found is None:
            stage.stale()
        else:
            _show(found, model, stage)
    fetching.follow(wanted.name)


def _show(found: Open, model: str, stage: attention.Stage) -> None:
    """Traces the input and shows the view."""
    line = st.empty()
    line.caption(card.line(found, None))
    with stage.below:
        below = st.container(gap="small")
        over = st.container(gap="small")
        proved = st.container(gap="small")
        card.show(found.source, found.model)
    with st.container(key=f"{PAGE}_given", gap="small"):  # which an embed link leaves out
        request = inputs.choose(found.model)
        grouping = words.chosen(PAGE, inputs.special_names(found.model))
    run = tracing.pass_of(PAGE, found, request)
    if run.stopped:
        run.offer()
        stage.stale()
        return
    with st.spinner("Running the model …"), run.progress() as progress:
        tracing.traced(found, request, progress)
    held = tracing.shown(found, request, *grouping)
    trace = tracing.traced(found, request).value
    notes = dict.fromkeys((*request.notes, *trace.notes))
    if notes:
        st.caption(shared.plain("; ".join(notes)))
    predictions.written(found.model, trace, request.arguments[1])
    predictions.continued(predictions.vocabulary_of(found.model, trace), trace)
    stage.kind = held.value.kind
    stage.params = _now(model, stage.kind)
    with st.container(key=f"{PAGE}_given_beside"):
        more = beside.choose(found) if stage.kind == "image" else {}
    stage.show(held, panels=tracing.panels(held), more=more)
    if stage.kind == "text":
        with over:
            over_picture.show(found, request, trace, held)
    with proved:
        own_relevance.show(found, request, trace)
    with below:
        verification.button(PAGE, held.id, lambda: (found.model, *request.arguments))
    line.caption(card.line(found, tracing.verified(found, request)))
