"""Example pictures of each network on the Image page, captions, and the network's answers."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import streamlit as st

from models.files.card import Example
from viz.pages.image import picture
from viz.pages.shared import BUILT, plain
from viz.pages.state import session
from viz.pages.widgets import cards, pictures

if TYPE_CHECKING:
    from models.trace import Trace


def of(model: str) -> Mapping[str, Example | None]:
    """The example pictures of a trained network; the photos for one built here."""
    return picture.samples(model) or dict.fromkeys(picture.PHOTOS)


def caption(page: str) -> None:
    """The task and scores of the network, and what to look at in the picture."""
    model = session.get(page, "model")
    if model == BUILT:
        st.caption(
            "Untrained: the weights are random. The pictures show the effect of patches, heads,"
            " dims and depth, and nothing that was learned."
        )
        return
    cards.about(model)
    example = of(model).get(session.get(page, "photo"))
    if example is not None and not pictures.has_upload(page):
        st.caption(plain(f"What to look at: {example.hint}"))


def answer(model: str, trace: "Trace") -> None:
    """The answers of a trained network to each question, with probabilities."""
    from analysis.outputs import class_probabilities

    card = cards.card(model)
    if card is None:
        return
    sizes = [len(question.classes) for question in card.questions]
    for question, found in zip(card.questions, class_probabilities(trace, sizes), strict=True):
        best = max(range(len(found)), key=found.__getitem__)
        others = ", ".join(
            f"{name} {share:.1%}"
            for number, (name, share) in enumerate(zip(question.classes, found, strict=True))
            if share >= 0.01 and number != best
        )
        first = f"**{plain(question.classes[best])}** ({found[best]:.1%}"
        st.markdown(f"{plain(question.title)} {first}{'; ' + plain(others) if others else ''})")


def follow(page: str) -> None:
    """Called after another network was selected: shows its example, unless a file was uploaded."""
    session.fold(page)
    own = of(session.get(page, "model"))
    if not session.get(page, "upload") and session.get(page, "photo") not in own:
        pictures.show(page, *next(iter(own.items())))


def settle(page: str) -> None:
    """Replaces an example of another network, named by a link, by one of this network."""
    if session.get(page, "model") != BUILT:
        follow(page)
