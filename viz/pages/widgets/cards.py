"""Model cards of the catalogue."""

from html import escape

import streamlit as st

from models.card import Card
from models.card import card as of
from models.catalogue import Entry, bundled, entry
from viz.pages import shared


@st.cache_resource(max_entries=32, show_spinner=False)
def card(model: str) -> Card | None:
    """The card of a model trained for the app; None for any other."""
    return None if model == shared.BUILT else of(entry(model))


def about(model: str) -> None:
    """Shows the task and the scores of a model trained for the app."""
    found = card(model)
    if found is not None:
        st.caption(shared.plain(_details(found)))


def folded(model: str) -> None:
    """One line about a model of the catalogue, which opens to its task and its scores."""
    if model == shared.BUILT:
        return
    found, about = card(model), next(each for each in readers() if each.name == model)
    if found is None:
        line, details = "About this model", f"{about.summary} Licence: {about.licence}."
    else:
        scores = (f"{each.name} {_percent(each.share)}" for each in found.measures)
        line, details = f"Right: {', '.join(scores)}", _details(found)
    st.html(
        f'<details class="about-model"><summary>{escape(line)} · <u>details</u></summary>'
        f"<p>{escape(details)}</p></details>",
        width="content",
    )


def _details(card: Card) -> str:
    measured = "; ".join(
        f"{each.name} {_percent(each.share)} (95 % interval {_percent(each.low)} to"
        f" {_percent(each.high)})"
        for each in card.measures
    )
    return f"{card.task} {card.hint} On {card.measures[0].of:,} unseen inputs: {measured}."


def _percent(share: float) -> str:
    return f"{100 * share:.4g} %"


@st.cache_resource(show_spinner=False)
def readers() -> tuple[Entry, ...]:
    """The models of the catalogue that read text."""
    return tuple(entry for entry in bundled() if entry.reads == "text")
