"""What a model answers to the page's input, in a line, and what it went on with in the view."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import streamlit as st

from analysis.percent import percent
from models.request import Chat, TraceRequest
from models.text import Decoding
from viz.api import writing
from viz.api.samples import card_of
from viz.pages import compute
from viz.pages.explore.names import PAGE
from viz.pages.shared import plain
from viz.pages.state import params as link
from viz.pages.state import session

if TYPE_CHECKING:
    from models.card import Example
    from models.model import Model
    from models.trace import Trace


END = "[END]"
ENDS = ("[BEGIN]", END)  # tokens around a text, which are not predicted


def of_text(name: str, model: "Model", trace: "Trace", *, given: bool) -> None:
    """The answer to a question about pictures, or the likeliest token of each position.

    Args:
        name: of the model in the catalogue; "" for any other.
        model: open.
        trace: of the text.
        given: whether the answer was given.
    """
    reader, card = model.tokenizer, card_of(name)
    lead, words = "The model answers", ""
    if trace.answer is not None and isinstance(reader, Decoding):
        lead = "The answer that was given" if given else lead
        tokens = trace.tokens[0][trace.answer :]
        words = reader.text(tokens.ids).strip() or " ".join(tokens.labels) or "nothing"
    elif card is not None and (known := compute.vocabulary_of(model, trace)):
        names = card.target_tokens or card.tokens
        if known.kind == "encoder" and names:
            pairs = zip(compute.top_ids(trace), trace.tokens[0].labels, strict=True)
            predicted = [names[id] for id, label in pairs if label not in ENDS]
            predicted = predicted[:-1] if predicted[-1:] == [END] else predicted
            words = ("" if all(len(each) == 1 for each in predicted) else " ").join(predicted)
    if words:
        st.markdown(f"{lead}: **{plain(words)}**")


def of_picture(name: str, trace: "Trace", example: "Example | None", title: str = "") -> None:
    """The answers of a trained network to each question, with probabilities, beside the truth.

    Args:
        name: of the network in the catalogue.
        trace: of its pass.
        example: the picture, if it is one of the network's examples.
        title: names the picture or the network, where there are two.
    """
    card = card_of(name)
    if card is None or not card.questions:
        return
    sizes = [len(question.classes) for question in card.questions]
    answers = zip(card.questions, compute.class_probabilities(trace, sizes), strict=True)
    parts = [f"{plain(each.title)} {_ranked(each.classes, shares)}" for each, shares in answers]
    if example is not None and example.answers:
        parts.append(f"Truth: **{plain(', '.join(example.answers))}**")
    lead = f"{plain(title)}: " if title else ""
    st.markdown(lead + " · ".join(parts))


def _ranked(names: Sequence[str], shares: Sequence[float]) -> str:
    """The likeliest class, and in brackets its probability and the other likely ones."""
    best, *others = sorted(zip(shares, names, strict=True), key=lambda each: -each[0])

    def sentences() -> Iterator[str]:
        yield percent(best[0], ".1f")
        if likely := [f"{name} {percent(share, '.1f')}" for share, name in others if share >= 0.01]:
            yield plain(", ".join(likely))

    return f"**{plain(best[1])}** ({'; '.join(sentences())})"


# ---- what the model went on with: the text, and which part of it was written

PARAMS = (link.number("written", 0, 0, 99_999),)  # characters at the end of the text
# in the session: the text whose end was written, the user's turn that the model answers, and the
# template of the chat up to where the model's turn begins
TEXT, ASKED, TURN = (f"{PAGE}/written/{name}" for name in ("text", "asked", "turn"))
MOST = 100_000  # characters


def take() -> None:
    """Makes the text that the view was given the input, or the model's turn of a chat.

    What the model wrote for another turn of the user is dropped. After `link_on_entry.enter`.
    """
    settings, state = session.current(PAGE).settings, st.session_state
    asked = settings["input"]
    is_answer = settings["chat"] == "yes" and settings["written"]
    if is_answer and state.setdefault(ASKED, asked) != asked:
        session.edit(PAGE, {"answer": "", "written": 0})
    sent = (state.get(f"{PAGE}_view") or {}).get("write")
    session.take(f"{PAGE}/write", [sent], _written)


def _written(sent: Mapping[str, Any]) -> None:
    session.fold(PAGE)
    state, text, count = st.session_state, sent.get("text"), sent.get("written")
    if isinstance(text, str) and isinstance(count, int) and 0 < count < len(text) <= MOST:
        turn = state.get(TURN, "")
        if text.startswith(turn):  # else the user's turn is another one since
            state[TEXT], state[ASKED] = text, session.get(PAGE, "input")
            change = {"answer": text.removeprefix(turn)} if turn else {"input": text}
            session.edit(PAGE, {**change, "written": count})


def props(request: TraceRequest, model: "Model") -> dict[str, Any]:
    """Props of the view: whether it can go on with the text, and from which token on it did."""
    text, state = request.input, st.session_state
    state[TURN] = ""
    if isinstance(text, Chat):
        answer, text = text.answer, compute.written_out(text, model)
        if isinstance(text, str):
            state[TURN] = text.removesuffix(answer)
    if not isinstance(text, str) or not writing.writes(model):
        return {}
    count = session.get(PAGE, "written")
    if count and state.setdefault(TEXT, text) != text:  # another text since
        session.edit(PAGE, {"written": (count := 0)})
    if not count:
        for name in (TEXT, ASKED):
            state.pop(name, None)
    return {"writes": True, "given": writing.given_of(model, text, len(text) - count)}
