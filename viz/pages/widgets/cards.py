"""Model cards of the catalogue."""

from functools import cache, lru_cache

import streamlit as st

from analysis.percent import percent
from models.card import Card
from models.card import card as of
from models.catalogue import Entry, bundled
from viz.pages import shared


@lru_cache(maxsize=32)
def card(model: str) -> Card | None:
    """The card of a model trained for the app; None for any other."""
    return next((of(each) for each in bundled() if each.name == model), None)


def about(model: str) -> None:
    """Shows the task and the scores of a model trained for the app."""
    entry = card(model)
    if entry is not None:
        st.caption(shared.plain(details(entry)))


def details(card: Card) -> str:
    measured = "; ".join(
        f"{each.name} {percent(each.share, '.4g')} (95 % interval {percent(each.low, '.4g')} to"
        f" {percent(each.high, '.4g')})"
        for each in card.measures
    )
    return f"{card.task} {card.hint} On {card.measures[0].of:,} unseen inputs: {measured}."


@cache
def readers() -> tuple[Entry, ...]:
    """The models of the catalogue that read text."""
    return tuple(entry for entry in bundled() if entry.reads == "text")
