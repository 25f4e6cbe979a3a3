"""A text that the model went on with: taken from the view, and which part of it was written."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import streamlit as st

from models.request import Chat, TraceRequest
from viz.api import writing
from viz.pages import compute
from viz.pages.explore import prompts
from viz.pages.explore.names import PAGE
from viz.pages.state import params as link
from viz.pages.state import session

if TYPE_CHECKING:
    from models.model import Model

WRITTEN = link.number("written", 0, 0, 99_999)  # characters at the end of the input
PARAMS = (WRITTEN,)
LAST = f"{PAGE}/written/last"  # id of the message that was taken last
OF = f"{PAGE}/written/of"  # the text whose end was written
TURN = f"{PAGE}/written/turn"  # the template of the chat, up to where the model's turn begins
ASKED = f"{PAGE}/written/asked"  # the user's turn that the model answers
MOST = 100_000  # characters


def take() -> None:
    """Makes the text that the view was given the input, or the model's turn of a chat; after
    `link_on_entry.enter`.
    """
    _forget_other()
    sent = (st.session_state.get(f"{PAGE}_view") or {}).get("write")
    if not isinstance(sent, Mapping):
        return
    id, text, count = (sent.get(name) for name in ("id", "text", WRITTEN.name))
    if not isinstance(id, str) or id == st.session_state.get(LAST):
        return
    st.session_state[LAST] = id
    if isinstance(text, str) and isinstance(count, int) and 0 < count < len(text) <= MOST:
        session.fold(PAGE)
        turn = st.session_state.get(TURN, "")
        if not text.startswith(turn):  # the user's turn is another one since
            return
        st.session_state[OF], st.session_state[ASKED] = text, session.get(PAGE, "input")
        to = {"answer": text.removeprefix(turn)} if turn else {"input": text}
        session.edit(PAGE, {**to, WRITTEN.name: count})


def _forget_other() -> None:
    """Empties the model's turn where it wrote it for another turn of the user."""
    settings, state = session.current(PAGE).settings, st.session_state
    if settings["chat"] == "no" or not settings[WRITTEN.name]:
        return
    asked = state.setdefault(ASKED, settings["input"])
    if asked != settings["input"] and state.get(OF, "").endswith(settings["answer"]):
        session.edit(PAGE, {"answer": "", WRITTEN.name: 0})


def props(request: TraceRequest, model: "Model") -> dict[str, Any]:
    """Props of the view: whether it can go on with the text, and from which token on it did."""
    text, st.session_state[TURN] = request.input, ""
    if isinstance(text, Chat):
        answer, text = text.answer, compute.written_out(text, model)
        if isinstance(text, str):
            st.session_state[TURN] = text.removesuffix(answer)
    if prompts.is_mean() or not isinstance(text, str) or not writing.writes(model):
        return {}
    given = writing.given_of(model, text, _given(text))
    return {"writes": True, "given": given}


def _given(text: str) -> int:
    """How many characters of the input were typed; the others were written after them."""
    count, of = session.get(PAGE, WRITTEN.name), st.session_state.get(OF, text)
    if count and of != text:  # another text since
        session.edit(PAGE, {WRITTEN.name: 0})
        count = 0
    if count:
        st.session_state[OF] = text
    else:
        st.session_state.pop(OF, None)
    return len(text) - count
