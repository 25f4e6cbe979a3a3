"""Example pictures of each network on the Image page, captions, and the network's answers."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import streamlit as st

from models.card import Example
from viz.pages import picture
from viz.pages.image.network import OWN, TITLES
from viz.pages.shared import BUILT, notice, plain
from viz.pages.state import session
from viz.pages.widgets import cards, pictures

if TYPE_CHECKING:
    from models.trace import Trace


def of(model: str) -> Mapping[str, Example | None]:
    """The example pictures of a trained network; the photos for one built here."""
    return picture.samples(model) or dict.fromkeys(picture.PHOTOS)


def named(model: str, photo: str) -> str:
    """Name of one of the example pictures of a network."""
    example = of(model).get(photo)
    return picture.TITLES.get(photo, photo) if example is None else example.name


def caption(page: str) -> None:
    """The task and scores of the network, and what to look at in the picture."""
    model = session.get(page, "model")
    if model == BUILT:
        st.caption(
            "Untrained: the weights are random. The pictures show the effect of patches, heads,"
            " dims and depth, and nothing that was learned."
        )
        return
    if model == OWN:
        return
    cards.about(model)
    example = shown_on(page, model)
    if pictures.has_upload(page):
        notice(
            f"{TITLES[model]} was trained on pictures like its examples, and on no others: what it"
            " answers to yours is a guess."
        )
    elif example is not None:
        st.caption(plain(f"What to look at: {example.hint}"))


def shown_on(page: str, model: str) -> Example | None:
    """The example of a model that is the page's picture."""
    return None if pictures.has_upload(page) else of(model).get(session.get(page, "photo"))


def answer(model: str, trace: "Trace", example: Example | None, title: str = "") -> None:
    """The answers of a trained network to each question, with probabilities, beside the truth.

    Args:
        model: that answers.
        trace: of its pass.
        example: the picture, if it is one of the model's examples.
        title: names the picture or the network, where there are two.
    """
    from analysis.outputs import class_probabilities

    card = cards.card(model)
    if card is None:
        return
    truth = example.answers if example is not None else ()
    sizes = [len(question.classes) for question in card.questions]
    parts: list[str] = []
    for question, found in zip(card.questions, class_probabilities(trace, sizes), strict=True):
        best = max(range(len(found)), key=found.__getitem__)
        others = ", ".join(
            f"{name} {_percent(share)}"
            for number, (name, share) in enumerate(zip(question.classes, found, strict=True))
            if share >= 0.01 and number != best
        )
        first = f"**{plain(question.classes[best])}** ({_percent(found[best])}"
        parts.append(f"{plain(question.title)} {first}{'; ' + plain(others) if others else ''})")
    if truth:
        right = f"**{plain(', '.join(truth))}**"
        parts.append(f"Truth: {right}")
    joined = " · ".join(parts) if truth or title else "  \n".join(parts)
    st.markdown(f"{plain(title)}: {joined}" if title else joined)


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


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
