"""Sentences that show something, each with where to look. The numbers are MiniLM's own; a test
holds every one of them against the model."""

from dataclasses import dataclass

import streamlit as st

from viz.pages.shared import Choice, plain


@dataclass(frozen=True)
class Example:
    """One sentence and what one head does with it.

    Attributes:
        name: on its button.
        text: the sentence.
        look: what to look at.
        layer: of the head.
        head: that shows it.
        query: position of the token that attends.
        key: position of the token attended to.
        weight: that the query gives the key, to two digits.
    """

    name: str
    text: str
    look: str
    layer: int
    head: int
    query: int
    key: int
    weight: float


EXAMPLES = (
    Example(
        "Who is “it”?",
        "The animal didn't cross the street because it was too tired.",
        "Layer 3, head 1: “it” gives 0.68 of its attention to “animal”. Change “tired” to “wide”"
        " and it drops to 0.28: now “it” could be the street.",
        3,
        1,
        query=10,
        key=2,
        weight=0.68,
    ),
    Example(
        "Keys … are",
        "The keys to the cabinet are on the table.",
        "Layer 3, head 1: “are” looks past its neighbour “cabinet” to its subject, “keys” (0.79).",
        3,
        1,
        query=6,
        key=2,
        weight=0.79,
    ),
    Example(
        "One word back",
        "To be or not to be, that is the question.",
        "Layer 0, head 2: a bright line just under the diagonal. Every token looks at the one"
        " before it, whatever the words are: this head reads positions.",
        0,
        2,
        query=11,
        key=10,
        weight=1.00,
    ),
    Example(
        "Two banks",
        "The bank by the river is flooded, but the bank in town is open.",
        "Layer 2, head 9: the second “bank” looks at the first (0.91), and the “the” before"
        " it at the first “The”: this head finds the same word again.",
        2,
        9,
        query=11,
        key=2,
        weight=0.91,
    ),
    Example(
        "Not like",
        "I did not like the film, but my sister loved it.",
        "Layer 2, head 1: “not” gives 0.98 to “like”, the word it negates. Then look at “it” in"
        " layer 3, head 1: it finds “film” over a distance.",
        2,
        1,
        query=3,
        key=4,
        weight=0.98,
    ),
    Example(
        "Same question",
        "How old are you? What is your age?",
        "Layer 2, head 9: “old” looks at “age” (0.69), and layer 2, head 4 the other way round:"
        " the model was trained to see that both questions ask the same.",
        2,
        9,
        query=2,
        key=9,
        weight=0.69,
    ),
    Example(
        "Resting heads",
        "She opened the window because the room was warm.",
        "Layer 4, head 5: one bright column. Nearly all tokens look at [CLS], which is where a head"
        " rests when it finds nothing to do. In other words: not every head means something.",
        4,
        5,
        query=4,
        key=0,
        weight=0.87,
    ),
    Example(
        "Word pieces",
        "Zoë's supercalifragilistic 🙂 café.",
        "One rare word is six tokens, and 🙂 is one the model does not know ([UNK]). Layer 0,"
        " head 2 shows each piece looking at the piece before it.",
        0,
        2,
        query=5,
        key=4,
        weight=1.00,
    ),
)


def of_text(text: str) -> Example | None:
    """The example with that text, if it is one."""
    return next((example for example in EXAMPLES if example.text == text), None)


def buttons(page: str) -> None:
    """The examples, one click away."""
    with st.container(key=f"{page}_examples", horizontal=True, gap="xsmall"):
        for number, example in enumerate(EXAMPLES):
            st.button(
                example.name,
                key=f"{page}_example_{number}",
                on_click=_take,
                args=(page, example),
                type="primary" if example == shown(page) else "secondary",
            )


def look(page: str, choice: Choice) -> None:
    """What to look at in the example that is shown; nothing for weights that mean nothing."""
    example = shown(page)
    if choice.model == "built":
        st.caption(
            "Untrained: the weights are random. The pictures show what heads, dims, depth and"
            " positions do before any learning, and nothing that was learned."
        )
    elif example is not None:
        st.caption(plain(f"What to look at. {example.look}"))


def shown(page: str) -> Example | None:
    """The example whose text the page shows, if it is one."""
    return of_text(st.session_state[f"{page}_input"])


def _take(page: str, example: Example) -> None:
    taken = {
        "input": example.text,
        "model": "minilm",
        "layer": example.layer,
        "head": example.head,
        "token": example.query,
        "direction": "out",
    }
    for name, value in taken.items():
        st.session_state[f"{page}_{name}"] = value
