"""Models: open a checkpoint, read its card and tensors, and see where its heads look."""

from collections.abc import Mapping

import streamlit as st

from viz.api.entries import ImageEntry
from viz.pages import shared
from viz.pages.models import card, chooser, inputs, tracing
from viz.pages.models import download as fetching
from viz.pages.models.source import PAGE, Open
from viz.pages.state import params as link
from viz.pages.state import session
from viz.pages.text import words
from viz.pages.widgets import attention, pictures, verification

KINDS = ("self", "causal", "cross", "joint")  # of attention
SCALES = {"text": "fixed", "image": "layer"}  # default of each kind of view


def params(model: str, kind: attention.Kind | None = None) -> tuple[link.Param, ...]:
    """The page's settings and its view's selection.

    Args:
        model: of the catalogue; "" for any other.
        kind: of the view; None while it is unknown.
    """
    scale = link.choice("scale", SCALES.get(kind or "", ""), (*attention.SCALES, "layer"))
    return (
        *chooser.PARAMS,
        *card.PARAMS,
        *inputs.params(model),
        *words.PARAMS,
        link.number("layer", 0, 0, 999),
        link.choice("attention", "self", KINDS),
        link.text("tower", ""),
        link.number_or("head", 0, 999, ("mean", "max")),
        link.number("token", None, 0, 9999),
        link.choice("direction", "out", ("out", "in")),
        scale,
        *attention.FORMS,
        *attention.OVERLAY,
    )


def params_of(query: Mapping[str, str]) -> tuple[link.Param, ...]:
    """The parameters of a link; the default text depends on its model."""
    place, model = link.value(chooser.PLACE, query), link.value(chooser.MODEL, query)
    return params(model if place == "catalogue" else "")


def page() -> None:
    """Draws the page."""
    problems = session.enter(PAGE, params_of).problems
    pictures.take(PAGE)
    st.markdown("#### What does your model look at?")
    with attention.controls(PAGE):
        for problem in problems:
            shared.error_line(problem)
        wanted = chooser.choose(inputs.follow)
    model = wanted.name if wanted.place == "catalogue" else ""
    with attention.stage(PAGE, "text", params(model, "text")) as stage:
        found = chooser.first_that_opens(wanted)
        if found is None:
            stage.stale()
        else:
            _show(found, model, stage)
    fetching.follow(wanted.name)


def _show(found: Open, model: str, stage: attention.Stage) -> None:
    """Traces the input and shows the view."""
    st.caption(card.line(found.model))
    with stage.below:
        below = st.container(gap="small")
        card.show(found.source, found.model)
    request = inputs.choose(found.model)
    grouping = words.chosen(PAGE, inputs.special_names(found.model))
    with st.spinner("Running the model …"):
        held = tracing.shown(found, request, *grouping)
    notes = dict.fromkeys((*request.notes, *tracing.traced(found, request).value.notes))
    if notes:
        st.caption(shared.plain("; ".join(notes)))
    stage.kind = "image" if isinstance(held.value, ImageEntry) else "text"
    stage.params = params(model, stage.kind)
    stage.show(held, panels=["code"])
    with below:
        verification.button(PAGE, held.id, lambda: (found.model, *request.arguments))
