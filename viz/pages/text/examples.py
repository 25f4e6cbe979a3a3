"""Inputs that show something, each with where to look. The numbers of those written here are
MiniLM's own, those of the models trained here come with them; tests hold every one to its model."""

from typing import Any

import streamlit as st

from models.files.card import Example
from viz.pages.shared import BUILT, plain
from viz.pages.state import session
from viz.pages.widgets import cards, controls

EXAMPLES = (
    Example(
        "Who is “it”?",
        "The animal didn't cross the street because it was too tired.",
        "Layer 3, head 1: “it” gives 0.68 of its attention to “animal”. Change “tired” to “wide”"
        " and it drops to 0.28: now “it” could be the street.",
        kind="self",
        layer=3,
        head=1,
        query=10,
        key=2,
        weight=0.68,
    ),
    Example(
        "Keys … are",
        "The keys to the cabinet are on the table.",
        "Layer 3, head 1: “are” looks past its neighbour “cabinet” to its subject, “keys” (0.79).",
        kind="self",
        layer=3,
        head=1,
        query=6,
        key=2,
        weight=0.79,
    ),
    Example(
        "One word back",
        "To be or not to be, that is the question.",
        "Layer 0, head 2: a bright line just under the diagonal. Every token looks at the one"
        " before it, whatever the words are: this head reads positions.",
        kind="self",
        layer=0,
        head=2,
        query=11,
        key=10,
        weight=1.00,
    ),
    Example(
        "Two banks",
        "The bank by the river is flooded, but the bank in town is open.",
        "Layer 2, head 9: the second “bank” looks at the first (0.91), and the “the” before"
        " it at the first “The”: this head finds the same word again.",
        kind="self",
        layer=2,
        head=9,
        query=11,
        key=2,
        weight=0.91,
    ),
    Example(
        "Not like",
        "I did not like the film, but my sister loved it.",
        "Layer 2, head 1: “not” gives 0.98 to “like”, the word it negates. Then look at “it” in"
        " layer 3, head 1: it finds “film” over a distance.",
        kind="self",
        layer=2,
        head=1,
        query=3,
        key=4,
        weight=0.98,
    ),
    Example(
        "Same question",
        "How old are you? What is your age?",
        "Layer 2, head 9: “old” looks at “age” (0.69), and layer 2, head 4 the other way round:"
        " the model was trained to see that both questions ask the same.",
        kind="self",
        layer=2,
        head=9,
        query=2,
        key=9,
        weight=0.69,
    ),
    Example(
        "Resting heads",
        "She opened the window because the room was warm.",
        "Layer 4, head 5: one bright column. Nearly all tokens look at [CLS], which is where a head"
        " rests when it finds nothing to do. In other words: not every head means something.",
        kind="self",
        layer=4,
        head=5,
        query=4,
        key=0,
        weight=0.87,
    ),
    Example(
        "Word pieces",
        "Zoë's supercalifragilistic 🙂 café.",
        "One rare word is six tokens, and 🙂 is one the model does not know ([UNK]). Layer 0,"
        " head 2 shows each piece looking at the piece before it.",
        kind="self",
        layer=0,
        head=2,
        query=5,
        key=4,
        weight=1.00,
    ),
)


def of(model: str) -> tuple[Example, ...]:
    """The examples of a model; an encoder that is built here reads MiniLM's."""
    card = cards.card(model)
    return EXAMPLES if card is None else card.examples


def of_text(model: str, text: str) -> Example | None:
    """The model's example with that text, if it is one."""
    return next((example for example in of(model) if example.input == text), None)


def buttons(page: str) -> None:
    """The examples, one click away."""
    with st.container(key=f"{page}_examples", horizontal=True, gap="xsmall"):
        for number, example in enumerate(of(session.get(page, "model"))):
            controls.button(
                example.name,
                f"{page}_example_{number}",
                take,
                page,
                example,
                chosen=example == shown(page),
            )


def caption(page: str) -> None:
    """What to look at in the example that is shown; a caveat for weights that mean nothing."""
    example = shown(page)
    if session.get(page, "model") == BUILT:
        st.caption(
            "Untrained: the weights are random. The pictures show what heads, dims, depth and"
            " positions do before any learning, and nothing that was learned."
        )
    elif example is not None:
        st.caption(plain(f"What to look at. {example.hint}"))


def shown(page: str) -> Example | None:
    """The example whose text the page shows, if it is one."""
    return of_text(session.get(page, "model"), session.get(page, "input"))


def selection_of(example: Example) -> dict[str, Any]:
    """What the view selects to show an example."""
    return {
        "layer": example.layer,
        "attention": example.kind,
        "head": example.head,
        "token": example.query,
        "direction": "out",
    }


def take(page: str, example: Example) -> None:
    """Puts an example's input into the page, and its head before the reader."""
    settings = {"input": example.input, "target": example.target or ""}
    if session.get(page, "model") == BUILT:
        settings["model"] = "minilm"  # what is to be looked at was learned
    session.assign(page, settings, selection_of(example))


def follow(page: str) -> None:
    """After another model was chosen: its own example takes the place of one of the model before.

    What the user wrote stays; but a text of another model's examples says nothing to this one.
    """
    session.fold(page)
    model, text = session.get(page, "model"), session.get(page, "input")
    others = (entry.name for entry in cards.readers() if entry.name != model)
    foreign = any(of_text(other, text) for other in others) and of_text(model, text) is None
    if model != BUILT and foreign:
        take(page, of(model)[0])
