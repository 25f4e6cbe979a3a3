"""What a network makes of its input: the next token, the masked one, or a whole answer."""

from typing import TYPE_CHECKING, Any

import streamlit as st

from viz.pages import known
from viz.pages.shared import Choice, plain

if TYPE_CHECKING:
    from models.trace import Trace

MEANS = {  # what the probabilities at a token are of
    "encoder": "what the model answers at",
    "decoder": "what comes after",
    "seq2seq": "what is written after",
}


def target(page: str, choice: Choice) -> None:
    """For a model that writes: what it is to write."""
    if _kind(choice) == "seq2seq":
        st.text_input(
            "What it is to write; empty: what it writes itself",
            key=f"{page}_target",
            live=True,
            persist_state="session",
            placeholder="written by the model, one token at a time",
            help="Given a text, the decoder reads it token by token, and the probabilities say how"
            " likely it held each next one.",
        )


def given(page: str, choice: Choice) -> str:
    """What the model is told to write; "" lets it."""
    return st.session_state[f"{page}_target"].strip() if _kind(choice) == "seq2seq" else ""


def answer(choice: Choice, trace: "Trace", given: str) -> None:
    """The whole answer of a model that gives one token for each place, or writes a text."""
    from analysis.outputs import written

    names = _names(choice)
    if not names or _kind(choice) == "decoder":
        return
    words = [names[number] for number in written(trace)]
    said = ("" if all(len(word) == 1 for word in words[:-1]) else " ").join(words)
    verb = "It answers" if _kind(choice) == "encoder" else "It writes"
    st.markdown(f"{'Given that text, it holds likeliest' if given else verb}: **{plain(said)}**")


def likely(choice: Choice, trace: "Trace", select: dict[str, Any]) -> None:
    """The probabilities at the chosen token."""
    from analysis.outputs import likely
    from viz.figures import bars

    names = _names(choice)
    if not names:
        return
    found = likely(trace, _place(trace, select))
    texts = trace.tokens if trace.target_tokens is None else trace.target_tokens
    token = texts[0].labels[found.place]
    title = f"{trace.model} · {MEANS[_kind(choice)]} “{token}” (position {found.place})"
    figure = bars(
        [names[number] for number in found.ids], found.probabilities, title=title, x="probability"
    )
    st.plotly_chart(figure, key="written_likely", config={"displayModeBar": False})
    st.caption("The softmax of the logits there: all tokens of the vocabulary share 1.")


def _place(trace: "Trace", select: dict[str, Any]) -> int:
    """The chosen token, where it is one of the text that is written; else the last one."""
    site, token = trace.sites[select["site"]], select["token"]
    sides = {"out": trace.queries(site), "in": trace.keys(site)}
    texts = trace.tokens if trace.target_tokens is None else trace.target_tokens
    return -1 if token is None or sides[select["direction"]] is not texts else token


def _names(choice: Choice) -> tuple[str, ...]:
    """What the ids of the output stand for; () where nobody knows."""
    card = known.card(choice.model)
    return () if card is None else card.target_tokens or card.tokens


def _kind(choice: Choice) -> str:
    kinds = {entry.name: entry.kind for entry in known.readers()}
    return kinds.get(choice.model, "encoder")
