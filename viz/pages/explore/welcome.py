"""The first minute: a strip of cards above the view, each a link to a model and what it shows.

It stands there while nothing was chosen, and again after a click on the app's name.
"""

from dataclasses import dataclass
from urllib.parse import parse_qsl

import streamlit as st
from headscope_views import view

from models.catalogue import entry, is_here
from viz import web
from viz.api import tracing
from viz.pages.explore import sizes
from viz.pages.explore.names import PAGE
from viz.pages.state import link_on_entry, session

KEY = f"{PAGE}_cards"
STRIP = f"{PAGE}/strip"  # the revision of the page in which the strip is there
PICTURES = "web/cards"  # their folder


@dataclass(frozen=True)
class Card:
    """One way to begin.

    Attributes:
        name: of its pictures, and what the browser sends.
        title: two words.
        line: what is seen there.
        query: of the link to it.
        page: that it leads to.
    """

    name: str
    title: str
    line: str
    query: str = ""
    page: str = PAGE

    @property
    def settings(self) -> dict[str, str]:
        """The query of the link."""
        return dict(parse_qsl(self.query))

    @property
    def link(self) -> str:
        """Its address, relative to a page's."""
        path = "" if self.page == PAGE else self.page
        return f"./{path}?{self.query}" if self.query else f"./{path}"

    @property
    def model(self) -> str:
        """Of the catalogue, whose weights are drawn; "" for none."""
        named = self.settings.get("model", "")
        return "" if "chooser" in self.settings or named in sizes.KINDS else named

    @property
    def missing(self) -> int:
        """Bytes that are fetched before its model opens; 0 if it is here."""
        known = entry(self.model) if self.model else None
        return known.download if known is not None and not is_here(known) else 0


CARDS = (
    Card("sentence", "A sentence", "Who is “it”?", "model=minilm&layer=3&head=1"),
    Card("next", "Next word", "Mary or John?", "model=smollm2&layer=24&head=4"),
    Card("picture", "A picture", "Which patches", "model=dinov2&layer=10&head=5"),
    Card("speech", "Spoken words", "Heard in time", "model=whisper&layer=2&attention=cross&head=5"),
    Card("translation", "A translation", "Words cross", "model=translate&layer=1&head=0"),
    Card("own", "Your model", "Folder or hub", "model=minilm&layer=3&head=1&chooser=folder"),
    Card("built", "Build one", "Of any size", "model=built&layer=3&head=1"),
    Card("course", "Learn how", "Step by step", page="course"),
)


def settle(first: bool, params_of: link_on_entry.ParamsOf) -> None:
    """Puts the strip on the page where nothing was chosen; it goes with the first choice.

    Args:
        first: whether the page was entered in this run for the first time.
        params_of: the page's parameters for a link.
    """
    home = session.came_home()
    chosen = link_on_entry.chooses(params_of) or st.context.is_embedded
    if home or (first and not chosen):
        st.session_state[STRIP] = session.current(PAGE).revision


def take(name: str, params_of: link_on_entry.ParamsOf) -> None:
    """Follows the link of a card.

    Args:
        name: of the card, as the browser sends it.
        params_of: the page's parameters for a link.
    """
    card = next((each for each in offered() if each.name == name), None)
    if card is None:
        return
    if card.page != PAGE:
        session.go_to(card.page)
    else:
        link_on_entry.follow(PAGE, params_of, card.settings)


def offered() -> tuple[Card, ...]:
    """The cards that this server can follow."""
    places = {"chooser": tracing.places()}
    return tuple(
        card
        for card in CARDS
        if all(card.settings.get(name) in (None, *known) for name, known in places.items())
    )


def draw(params_of: link_on_entry.ParamsOf) -> None:
    """Draws the strip, until something is chosen.

    Args:
        params_of: the page's parameters for a link.
    """
    if st.session_state.get(STRIP) != session.current(PAGE).revision:
        return
    items = [
        {
            "id": card.name,
            "title": card.title,
            "detail": f"Get ({card.missing / 1e6:.0f} MB)" if card.missing else card.line,
            "href": card.link,
            "picture": f"{web.path()}/{PICTURES}/{card.name}",
        }
        for card in offered()
    ]

    def follow() -> None:
        take((st.session_state.get(KEY) or {}).get("chosen") or "", params_of)

    props = {"name": "Where to begin", "items": items}
    view("strip", props, key=KEY, on={"chosen": session.callback(follow)})
