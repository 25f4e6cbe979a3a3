"""Models: open a checkpoint, read its card and its tensors, and see where its heads look."""

from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from viz.pages import explorer, settings, shared
from viz.pages.image import painter
from viz.pages.models import card as checkpoint_card
from viz.pages.models import checkpoint
from viz.pages.models import input as checkpoint_input
from viz.pages.models import view as checkpoint_view
from viz.pages.models import where as checkpoint_where
from viz.pages.models.checkpoint import PAGE, Source

PARAMS = (
    *checkpoint_where.PARAMS,
    *checkpoint_card.PARAMS,
    *checkpoint_input.PARAMS,
    *checkpoint_view.PARAMS,
)


@st.fragment
def page() -> None:
    with st.container(gap="small"):
        problems = settings.from_link(PAGE, PARAMS)
        st.markdown("#### What does your model look at?")
        for problem in problems:
            shared.error_line(problem)
        wanted = checkpoint_where.choose()
        body = st.container(key="models_body", gap="small")
        picture = st.container(key="models_picture")
        below = st.container(key="models_below", gap="small")
        if shared.warm():
            with body:
                _open(wanted, picture, below)
        else:
            with body:
                checkpoint_input.wait()
            with picture.container():
                explorer.wait(PAGE)
        settings.tell(PAGE)
        settings.to_link(PAGE, PARAMS)


def _open(wanted: Source, picture: DeltaGenerator, below: DeltaGenerator) -> None:
    """Opens what is wanted; where that fails, what was open stays open."""
    found = checkpoint_where.first_that_opens(wanted)
    if found is None:
        explorer.hide(PAGE, picture)
        return
    checkpoint_card.line(found.model)
    with below:
        checkpoint_card.show(found.source, found.model)
    try:
        looked = checkpoint_input.choose(found.source, found.model)
        traced = checkpoint_view.traced(found, looked)
        with picture.container():
            _look(found, looked, traced, settings.controls(PAGE, PARAMS))
    except ValueError as error:
        explorer.hide(PAGE, picture)
        shared.error_line(error)


@st.fragment
def _look(
    found: checkpoint.Open,
    looked: checkpoint_input.Looked,
    traced: shared.Traced,
    drawn: dict[str, Any],
) -> None:
    """What the view asks for and chooses runs this alone."""
    settings.keep_up(PAGE, PARAMS, drawn, dropped=painter.is_dropped(PAGE))
    checkpoint_view.show(found, looked, traced)
    settings.to_link(PAGE, PARAMS)


page()
