"""A text that the model went on with: taken from the view, and which part of it was written."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import streamlit as st

from models.request import Chat, TraceRequest
from viz.api import writing
from viz.pages import compute
from viz.pages.explore.names import PAGE
from viz.pages.state import params as link
from viz.pages.state import session

if TYPE_CHECKING:
    from models.model import Model

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
