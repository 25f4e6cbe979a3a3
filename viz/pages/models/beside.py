"""A second checkpoint beside the first, over the same picture: what is chosen shows in both."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import streamlit as st

from viz.pages import shared
from viz.pages.image import beside
from viz.pages.models import inputs, source, tracing
from viz.pages.models.source import PAGE, Open, Source
from viz.pages.picture import TRAINED
from viz.pages.shared import plain
from viz.pages.state import params as link
from viz.pages.state import session
from viz.pages.widgets.controls import select

SEEN = f"{PAGE}/pictured"  # sources of models with a view of pictures, the latest first
MOST = 8  # of them


def _parse(text: str) -> str:
    place, _, name = text.partition(":")
    if text and (place not in source.PLACES or not name):
        raise ValueError
    return text


PARAM = link.Param("compare", "", _parse, "catalogue:, folder: or hub:, and a name")


def choose(found: Open) -> dict[str, Any]:
    """Draws the choice; returns the props with which the view shows both, {} for one model.

    Args:
        found: the first model, whose view is one of pictures.
    """
    own = _text(found.source)
    seen = st.session_state.get(SEEN, ())
    st.session_state[SEEN] = (own, *(each for each in seen if each != own))[:MOST]
    titles = _titles(own)
    chosen = session.get(PAGE, PARAM.name)
    if chosen not in titles:
        session.edit(PAGE, {PARAM.name: ""})
    help = (
        "Another model that reads this picture: one that comes with the app, or that was opened"
        " here before; layer, head and patch are the same in both"
    )
    select(PAGE, PARAM.name, "Compare with", titles, help, width=320)
    chosen = session.get(PAGE, PARAM.name)
    if not chosen:
        return {}
    place, _, name = chosen.partition(":")
    try:
        with st.spinner("Opening the second model …"):
            other = source.opened(replace(found.source, place=place, name=name))
            held = tracing.pictured(other, inputs.of_picture(other.model))
    except ValueError as error:
        shared.error_line(f"{titles[chosen]}: {error}")
        return {}
    if held is None:
        shared.error_line(f"{titles[chosen]}: its layers do not attend to patches of the picture")
        return {}
    notes = held.value.trace.notes
    if notes:
        st.caption(plain(f"{titles[chosen]}: {'; '.join(notes)}"))
    return beside.props((_title(own), titles[chosen]), held)


def _titles(own: str) -> Mapping[str, str]:
    """What can be beside the first model."""
    places = source.places()
    known = [f"catalogue:{name}" for name in TRAINED]
    asked = [each for each in (session.get(PAGE, PARAM.name),) if each.partition(":")[0] in places]
    others = dict.fromkeys((*st.session_state.get(SEEN, ()), *asked, *known))
    return {"": "Nothing", **{each: _title(each) for each in others if each != own}}


def _title(text: str) -> str:
    """A short name: of a folder, its last two parts."""
    place, _, name = text.partition(":")
    if place == "catalogue":
        return TRAINED[name].title if name in TRAINED else name
    return "/".join(Path(name).parts[-2:]) if place == "folder" else name


def _text(found: Source) -> str:
    return f"{found.place}:{found.name}"
