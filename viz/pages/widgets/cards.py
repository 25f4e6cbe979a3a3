"""Model cards of the catalogue."""

import streamlit as st

from models.catalogue import Entry, catalogue, entry
from models.files.card import Card
from models.files.card import card as of
from viz.pages import shared


@st.cache_resource(max_entries=32, show_spinner=False)
def card(model: str) -> Card | None:
    """The card of a model trained for the app; None for any other."""
    return None if model == shared.BUILT else of(entry(model))


def about(model: str) -> None:
    """Shows the task and the scores of a model trained for the app."""
    found = card(model)
    if found is None:
        return
    measured = "; ".join(
        f"{each.name}: {each.right:,} of {each.of:,} held-out items"
        f" (95 %: {each.low:.1%} to {each.high:.1%})"
        for each in found.measures
    )
    st.caption(shared.plain(f"{found.task} {found.hint} Measured: {measured}."))


@st.cache_resource(show_spinner=False)
def readers() -> tuple[Entry, ...]:
    """The models of the catalogue that read text."""
    return tuple(entry for entry in catalogue() if entry.reads == "text")
