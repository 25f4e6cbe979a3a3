"""The Image page's trained networks: which one, its own pictures, and what it answers."""

from typing import TYPE_CHECKING

import streamlit as st

from models.files.card import Example
from viz.pages import explorer, settings
from viz.pages.image import picture
from viz.pages.image.picture import BUILT, TRAINED
from viz.pages.shared import plain
from viz.pages.widgets import known

if TYPE_CHECKING:
    from models.trace import Trace

TITLES = {BUILT: "Build one (untrained)"} | {name: each.title for name, each in TRAINED.items()}


def model(page: str) -> None:
    """The choice of a network."""
    st.selectbox(
        "Network",
        options=list(TITLES),
        format_func=TITLES.__getitem__,
        key=f"{page}_model",
        on_change=_follow,
        args=(page,),
        persist_state="session",
        width=210,
        help="Small vision transformers that were trained for this app, each on one task; or build"
        " one here and change its sizes: its weights are random, so its pictures show"
        " architecture, not learning.",
    )


def take(page: str, name: str, example: Example) -> None:
    """Puts a network's own picture into the page, and its head before the reader."""
    taken = {
        "photo": name,
        "upload": "",
        "refused": None,
        "layer": example.layer,
        "head": example.head,
        "token": example.query,
        "direction": "out",
    }
    settings.say(page, taken)
    explorer.overrule(page)


def look(page: str, model: str) -> None:
    """What the network learned and how well, and what to look at in the picture that is shown."""
    known.about(model)
    state = st.session_state
    example = picture.samples(model).get(state[f"{page}_photo"])
    if example is not None and not state[f"{page}_upload"]:
        st.caption(plain(f"What to look at. {example.hint}"))


def answer(model: str, trace: "Trace") -> None:
    """What the network answers to each question it was trained on, and how sure it is."""
    from analysis.outputs import class_probabilities

    card = known.card(model)
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
        told = f"**{plain(question.classes[best])}** ({found[best]:.1%}"
        st.markdown(f"{plain(question.title)} {told}{'; ' + plain(others) if others else ''})")


def settle(page: str) -> None:
    """A trained network begins with a picture of its own, where a link names none."""
    state = st.session_state
    own = picture.samples(state[f"{page}_model"])
    if own and not state[f"{page}_upload"] and state[f"{page}_photo"] not in own:
        take(page, *next(iter(own.items())))


def _follow(page: str) -> None:
    """After another network was chosen: a picture that it can read, unless the user gave one."""
    settings.hear(page)
    state = st.session_state
    chosen = state[f"{page}_model"]
    settle(page)
    if chosen == BUILT and state[f"{page}_photo"] not in picture.PHOTOS:
        settings.say(page, {"photo": "flower"})
