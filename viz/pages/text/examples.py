"""Example inputs with hints on where to look.

The examples here are MiniLM's; models trained for the app bring their own. Tests check every number
against its model.
"""

from typing import Any

import streamlit as st

from models.card import Example
from viz.pages.shared import BUILT, plain
from viz.pages.state import session
from viz.pages.widgets import cards, controls

EXAMPLES = (
    Example(
        "Who is “it”?",
        "The animal didn't cross the street because it was too tired.",
        "Layer 3, head 1: “it” gives 0.68 of its attention to “animal”. Change “tired” to “wide”"
        " and it drops to 0.28: the weight moves mostly to [CLS], and “street” gets only 0.12.",
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
        "Layer 2, head 9: “old” looks at “age” (0.69); in layer 2, head 4 it is the other way"
        " round. The model was trained to recognise that both questions mean the same.",
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
        "Layer 4, head 5: one bright column. Nearly all tokens look at [CLS], where a head rests"
        " when it finds nothing to attend to: not every head means something.",
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
    """The examples of a model; an encoder built here uses MiniLM's."""
    card = cards.card(model)
    return EXAMPLES if card is None else card.examples


def of_text(model: str, text: str) -> Example | None:
    """The model's example with that text, if it is one."""
    return next((example for example in of(model) if example.input == text), None)


def buttons(page: str) -> None:
    """Draws one button per example."""
    current = shown(page)
    with st.container(key=f"{page}_examples", horizontal=True, gap="xsmall"):
        for number, example in enumerate(of(session.get(page, "model"))):
            controls.button(
                example.name,
                f"{page}_example_{number}",
                take,
                page,
                example,
                chosen=example == current,
            )


def caption(page: str) -> None:
    """The hint of the current example, or a caveat for untrained weights."""
    example = shown(page)
    if session.get(page, "model") == BUILT:
        st.caption(
            "Untrained: the weights are random. The pictures show the effect of heads, dims, depth"
            " and positions, and nothing that was learned."
        )
    elif example is not None:
        st.caption(plain(f"What to look at: {example.hint}"))


def shown(page: str) -> Example | None:
    """The example with the page's current text, if any."""
    return of_text(session.get(page, "model"), session.get(page, "input"))


def selection_of(example: Example) -> dict[str, Any]:
    """The selection of the view for an example."""
    return {
        "layer": example.layer,
        "attention": example.kind,
        "head": example.head,
        "token": example.query,
        "direction": "out",
    }


def take(page: str, example: Example) -> None:
    """Sets the input of an example, and selects its head."""
    settings = {"input": example.input, "target": example.target or ""}
    if session.get(page, "model") == BUILT:
        settings["model"] = "minilm"  # the hint refers to trained weights
    session.assign(page, settings, selection_of(example))


def follow(page: str) -> None:
    """Called after another model was selected: replaces an example of the previous model.

    The user's own text stays.
    """
    session.fold(page)
    model, text = session.get(page, "model"), session.get(page, "input")
    others = (entry.name for entry in cards.readers() if entry.name != model)
    foreign = any(of_text(other, text) for other in others) and of_text(model, text) is None
    if model != BUILT and foreign:
        take(page, of(model)[0])
