"""The attention explorer inside a page: what to send it, and what the user chose in it."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from viz.pages import answers
from viz.pages.shared import Traced

LARGE = 1.4  # type in projector mode

KINDS = ("self", "causal", "cross")  # of attention

First = Callable[..., bytes]

if TYPE_CHECKING:
    from analysis.view import View
    from models.trace import Trace

    Seen = Trace | View


def wait(page: str) -> None:
    """Lets the browser load the explorer while the model is being loaded; it asks when ready."""
    from headscope_views import explorer

    from viz.pack import message

    explorer(message(trace=""), key=f"{page}_view", on_change=lambda: None)
    hide(page)


def foreshow(page: str, identity: str, data: bytes) -> None:
    """Shows an earlier start's message about this trace; what the view asks is answered later."""
    from headscope_views import explorer

    explorer(data, key=f"{page}_view", on_change=lambda: None)
    st.session_state[f"{page}_sent"], st.session_state[f"{page}_base"] = identity, data


def show(page: str, found: Traced) -> None:
    """The explorer for this trace. The choice in it lives in the page's settings."""
    from headscope_views import explorer

    exchange(
        page,
        found.shown,
        found.identity,
        explorer,
        lambda select, **told: everything(found, select, **told),
        lambda ask: answers.addition(found.shown, found.identity, ask),
    )


def everything(found: Traced, select: dict[str, Any], **told: Any) -> bytes:
    """The explorer's first message about a trace, with what else it is told."""
    return answers.first(found.shown, found.identity, found.thumbs, select, **told)


def exchange(
    page: str,
    trace: "Seen",
    identity: str,
    view: Callable[..., Any],
    first: First,
    addition: Callable[[dict[str, Any]], bytes],
    *,
    scales: Sequence[str] = ("fixed", "own"),
) -> None:
    """Shows a view, and sends it everything when it knows nothing of this trace, else answers.

    Args:
        page: whose settings the view's choice becomes.
        trace: what the choice has to be held within.
        identity: the trace's name for the browser.
        view: the component.
        first: everything, from the choice and, as keywords, the number of the question it answers,
            of the last choice that was heard of, how often choices were overruled, and the size of
            type.
        addition: what answers a question.
        scales: the words for a scale that the view knows.
    """
    _take_over(page, trace, scales)
    data = _reply(page, trace, identity, first, addition)
    view(data, key=f"{page}_view", on_change=lambda: None)
    st.session_state[f"{page}_sent"] = identity


def _reply(
    page: str,
    trace: "Seen",
    identity: str,
    first: First,
    addition: Callable[[dict[str, Any]], bytes],
) -> bytes:
    """Everything if the browser lacks this trace, else what it asked for.

    Everything is sent again until the browser shows that it has it, and a question is answered
    again as long as it stands: what is sent may be overtaken on its way.
    """
    state, said = st.session_state, _view(page)
    ask = said.get("ask") or {}
    number = answers.number_in(ask, "id")
    lost = ask.get("base") and number != state.get(f"{page}_answered")
    state[f"{page}_answered"] = number
    size = LARGE if state.get("projector") else 1.0
    resized = state.get(f"{page}_type_size", size) != size
    if lost or resized or state.get(f"{page}_sent") != identity:
        select = selection(page, trace)
        state[f"{page}_base"] = first(
            select,
            answer=number,
            heard=answers.number_in(said, "said") or 0,
            overruled=state.get(f"{page}_overruled", 0),
            type_size=size,
        )
        state[f"{page}_type_size"] = size
        state[f"{page}_seen"] = select  # its echo is no choice of the user's
        return state[f"{page}_base"]
    if identity in (said.get("trace"), ask.get("trace")):
        state[f"{page}_base"] = None
    again = state.get(f"{page}_base")
    return again or addition(ask if ask.get("trace") == identity else {"id": number})


def hide(page: str, place: DeltaGenerator | None = None) -> None:
    """Remembers that the explorer is gone from the page, and has to be sent everything again.

    Args:
        page: whose explorer it is.
        place: what would hold the picture's container, and nothing else; it is emptied.
    """
    st.session_state[f"{page}_sent"] = None
    if place is not None:
        place.empty()


def overrule(page: str) -> None:
    """What was chosen in the explorer up to now is void: the page's settings are newer.

    What the explorer has not yet said of it is void too, and it is told what is chosen instead.
    """
    state = st.session_state
    state[f"{page}_overruled"] = state.get(f"{page}_overruled", 0) + 1
    state[f"{page}_sent"] = None


def selection(page: str, trace: "Seen") -> dict[str, Any]:
    """The page's settings as the explorer takes them, held within this trace."""
    state = st.session_state
    kind, tower = state.get(f"{page}_attention"), state.get(f"{page}_tower")
    index = _site(trace, state[f"{page}_layer"], kind, tower)
    site, head, token = trace.sites[index], state[f"{page}_head"], state[f"{page}_token"]
    if isinstance(head, int):
        head = min(head, site.heads - 1)
    direction = state[f"{page}_direction"]
    count = site.queries if direction == "out" else site.keys
    return {
        "site": index,
        "head": head,
        "token": None if token is None else min(token, count - 1),
        "direction": direction,
        "scale": state[f"{page}_scale"],
    }


def _site(trace: "Seen", layer: int, kind: str | None, tower: str | None) -> int:
    """The site of a layer, kind and tower; without such a kind or tower, of the first there is."""
    places = list(range(len(trace.sites)))
    for name, wanted in (("kind", kind), ("tower", tower or None)):
        values = [getattr(trace.sites[place], name) for place in places]
        chosen = wanted if wanted in values else values[0]
        places = [place for place, value in zip(places, values, strict=True) if value == chosen]
    return min(places, key=lambda place: abs(trace.sites[place].layer - layer))


def _take_over(page: str, trace: "Seen", scales: Sequence[str]) -> None:
    """Makes what the user newly chose in the explorer the page's own, as far as it makes sense."""
    state, said = st.session_state, _view(page)
    select = said.get("select") or {}
    void = (answers.number_in(said, "overruled") or 0) < state.get(f"{page}_overruled", 0)
    if void or not select or select == state.get(f"{page}_seen"):
        return
    state[f"{page}_seen"] = select
    site, head, token = (select.get(name) for name in ("site", "head", "token"))
    if isinstance(site, int) and 0 <= site < len(trace.sites):
        state[f"{page}_layer"] = trace.sites[site].layer
        state[f"{page}_attention"] = trace.sites[site].kind
        state[f"{page}_tower"] = trace.sites[site].tower or ""
    if head in ("mean", "max") or (isinstance(head, int) and 0 <= head < 100):
        state[f"{page}_head"] = head
    if token is None or (isinstance(token, int) and 0 <= token < 10_000):
        state[f"{page}_token"] = token
    for name, words in (("direction", ("out", "in")), ("scale", scales)):
        if select.get(name) in words:
            state[f"{page}_{name}"] = select[name]


def _view(page: str) -> dict[str, Any]:
    """What the explorer last said."""
    return (st.session_state.get(f"{page}_view") or {}).get("view") or {}
