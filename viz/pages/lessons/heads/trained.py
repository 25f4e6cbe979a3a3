"""What each of MiniLM's heads does on the reader's sentence: a part of the lesson on heads."""

import streamlit as st

from viz.pages import shared
from viz.pages.lessons import cells, frame, tables
from viz.pages.lessons.tables import number
from viz.pages.widgets import controls

NAME = "heads"
SHORTEST = 4  # tokens, the special ones at both ends among them
AMONG = {"all": "all tokens", "words": "words alone"}


def draw() -> None:
    """The table of heads, and one of them in numbers.

    Raises:
        ValueError: for no sentence, or one that is too short or too long.
    """
    from analysis.habits import HABITS, habits

    st.text_input("Your sentence", key=f"{NAME}_sentence", persist_state="session", live=True)
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        controls.slider(NAME, "layer", "Layer", (0, 5), "Of the head that is marked")
        controls.slider(NAME, "head", "Head", (0, 11), "Is marked, with its numbers below")
        told = "Without [CLS] and [SEP], the weights of the others are divided by their sum"
        controls.choice(NAME, "among", "Weights on", AMONG, told)
    sentence = st.session_state[f"{NAME}_sentence"].strip()
    layer, head = (st.session_state[f"{NAME}_{name}"] for name in ("layer", "head"))
    if not sentence:
        raise ValueError("sentence: expected some words, received none")
    trace = shared.traced(shared.Choice("minilm"), shared.device(), sentence).trace
    if len(trace.labels) < SHORTEST:
        raise ValueError("sentence: expected two words or more, received one")
    found = habits(trace, words=st.session_state[f"{NAME}_among"] == "words")
    frame.show(
        cells.cells(
            found.names,
            found.scores.amax(0).tolist(),
            title=f"MiniLM · {tables.counted(len(trace.labels), 'token')}",
            rows=[f"layer {n}" for n in range(len(found.names))],
            cols=[f"head {n}" for n in range(len(found.names[0]))],
            mark=(layer, head),
            told="the habit a head comes closest to, and its mean weight",
        ),
        tables.facts(
            ("marked", f"layer {layer}, head {head}"),
            *(
                (habit, number(score))
                for habit, score in zip(HABITS, found.scores[:, layer, head].tolist(), strict=True)
            ),
            ("evenness", number(found.spread[layer, head].item())),
        ),
        '<p class="lesson-note">Evenness is 1 where all tokens get the same weight, and 0 where one'
        " gets it all; from 0.8 on a head may be called broad.</p>",
    )
    frame.explore(
        f"Open layer {layer}, head {head} in the explorer", input=sentence, layer=layer, head=head
    )
