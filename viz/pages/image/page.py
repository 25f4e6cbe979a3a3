"""Image: a picture, its patches, and where every head of a vision transformer looks."""

from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from viz.pages import explorer, settings, shared
from viz.pages.image import gallery, painter, picture
from viz.pages.image import view as picture_view
from viz.pages.state import params as link
from viz.pages.widgets import badge

PAGE = "image"
PARAMS = (
    link.choice("photo", "flower", picture.PICTURES),
    link.sha256("upload"),
    *painter.PARAMS,
    link.number("layer", 0, 0, 99),
    link.number_or("head", 0, 99, ("mean", "max")),
    link.number("token", 0, 0, 9999),
    link.choice("direction", "out", ("out", "in")),
    link.choice("scale", "layer", picture_view.SCALES),
)


@st.fragment
def page() -> None:
    with st.container(gap="small"):
        _page()


def _page() -> None:
    problems = settings.from_link(PAGE, PARAMS)
    painter.take_dropped(PAGE)
    gallery.settle(PAGE)
    st.markdown("#### Where does every head look?")
    for problem in (*problems, *painter.missing(PAGE)):
        shared.error_line(problem)
    painter.source(PAGE, st.session_state[f"{PAGE}_model"], chooser=gallery.model)
    choice = painter.choose(PAGE)
    notes = st.container(key="image_notes", gap="small")
    view = st.container(key="image_picture")
    with notes:
        painter.refused(PAGE)
        try:
            with st.spinner("Looking at the picture …"):
                _show(choice, view)
        except ValueError as error:
            explorer.hide(PAGE, view)
            shared.error_line(error)
    settings.tell(PAGE)
    settings.to_link(PAGE, PARAMS)


def _show(choice: picture.ViTChoice, view: DeltaGenerator) -> None:
    data, digest = picture.source(PAGE)
    how = st.session_state[f"{PAGE}_fit"]
    found = picture.seen(choice, shared.device(), digest, how, data)
    painter.told(found.notes)
    gallery.look(PAGE, choice.model)
    gallery.answer(choice.model, found.trace)
    with view.container():
        _view(choice, found, settings.controls(PAGE, PARAMS))


@st.fragment
def _view(choice: picture.ViTChoice, found: picture.Seen, drawn: dict[str, Any]) -> None:
    """What the view asks for and chooses runs this alone: the controls have no part in it."""
    settings.keep_up(PAGE, PARAMS, drawn, dropped=painter.is_dropped(PAGE))
    picture_view.show(PAGE, choice, found)
    select = explorer.selection(PAGE, found.trace)
    badge.show(PAGE, found.trace, found.identity, select, lambda: painter.given(PAGE, choice))
    painter.snippet(PAGE, choice, found)
    settings.to_link(PAGE, PARAMS)


page()
