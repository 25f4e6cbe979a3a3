"""Model cards of the catalogue."""

from functools import cache, lru_cache

import streamlit as st

from models.card import Card
from models.card import card as of
from models.catalogue import Entry, bundled
from viz.api.about import said_of
from viz.pages import shared


@lru_cache(maxsize=32)
def card(model: str) -> Card | None:
    """The card of a model trained for the app; None for any other."""
    return next((of(each) for each in bundled() if each.name == model), None)


def about(model: str) -> None:
    """Shows the task and the scores of a model trained for the app."""
    entry = card(model)
    if entry is not None:
        st.caption(shared.plain(said_of(entry)))


@cache
def readers() -> tuple[Entry, ...]:
    """The models of the catalogue that read text."""
    return tuple(entry for entry in bundled() if entry.reads == "text")
