"""What is changed in the pass: edits from the link and from the Lab.

The settings `edits`, `off` and `second` have them as text, as the link does; the browser has them
as values.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from models.request import Chat, File, Picture, Source, TraceRequest
from viz.api import samples
from viz.pages import compute, shared
from viz.pages.explore import files, old_links
from viz.pages.explore.names import PAGE
from viz.pages.state import params as link
from viz.pages.state import session
from viz.values import wholes

SECOND = "second"  # the name of the second input in the text of edits
BEFORE, AFTER, DIFFERENCE = "before", "after", "difference"
FIRST, BOTH = "first", "both"
PARAMS = (
    link.text("edits", ""),
    link.Param("off", "", wholes(63)),
    link.text(SECOND, ""),
    link.choice("edited", AFTER, (BEFORE, AFTER, DIFFERENCE)),
    link.choice("edits_in", FIRST, (FIRST, BOTH)),
)
CHOSEN = ("edited", "edits_in", "input", "compare")  # settings that the view changes
SETS = {  # the arguments by which an edit sets one thing to another value
    "Ablate": ("how", "seed", "over"),
    "AblateMLP": ("how", "seed"),
    "Cover": ("how",),
    "SetWeights": ("value",),
    "Temperature": ("value",),
    "UsePattern": ("use", "by"),
}
MOST_SECOND = 2000  # characters of a second input
MOST_UNDONE = 50
NAMED = TraceRequest(Source("built", ""), "")  # stands for the second input where no pass is made
NAMES = {SECOND: NAMED}
LISTED = ("edits", "off", SECOND)  # the settings that “Undo” brings back
NONE = {"edits": "", "off": ""}
Pairs = list[tuple[Any, bool]]  # edits in order, each with whether it is switched on

PROBLEM = f"{PAGE}/edits/problem"  # in the session, of what was asked for last


# ---- requests


def request(plain: TraceRequest) -> TraceRequest:
    """The request with the edits that are switched on; the same if there are none."""
    settings = session.current(PAGE).settings
    if problem := st.session_state.pop(PROBLEM, ""):
        shared.error_line(problem)
    if not settings["edits"]:
        return plain
    known, gone = old_links.without_gone(settings["edits"], settings["off"])
    if gone:
        names = ", ".join(dict.fromkeys(gone))
        shared.error_line(f"The link has edits that no longer exist: {names}. The rest is shown.")
        session.edit(PAGE, known)
    try:
        return _edited(plain, {**settings, **known})
    except ValueError as error:
        shared.error_line(error)
        session.edit(PAGE, {**NONE, SECOND: ""})
        return plain


def _edited(plain: TraceRequest, settings: Mapping[str, Any]) -> TraceRequest:
    """A request with the edits of some settings that are switched on."""
    second = _second(plain, settings[SECOND])
    pairs = _pairs(settings, {} if second is None else {SECOND: second})
    return replace(plain, edits=tuple(each for each, on in pairs if on))


def _second(plain: TraceRequest, second: str) -> TraceRequest | None:
    """The request of a second input, read as the first is; None without one."""
    given, other = plain.input, None
    if not second.strip():
        return None
    if isinstance(given, Picture):
        file = _picture(second)
        other = None if file is None else replace(given, file=file)
    elif isinstance(given, str | tuple | Chat):
        other = Chat(second) if isinstance(given, Chat) else second
    return None if other is None else replace(plain, input=other, hidden=True)


def _picture(name: str) -> File | None:
    """A picture of the page by its name, such as `photo:flower`; None if it is not here."""
    kind, _, place = name.partition(":")
    if kind == "upload":
        return files.pictures().get(place)
    return samples.file(place) if kind == "photo" and place in samples.PICTURES else None


def request_in_view(edited: TraceRequest) -> TraceRequest:
    """The request of what the view shows: that with edits, or that before them."""
    before = session.get(PAGE, "edited") == BEFORE
    return replace(edited, edits=()) if before else edited


def beside(plain: TraceRequest) -> TraceRequest:
    """The request of what stands beside the first: with the edits where they are wanted there.

    Raises:
        ValueError: for edits that its model cannot have.
    """
    settings = session.current(PAGE).settings
    wanted = settings["edits"] and settings["edits_in"] == BOTH and settings["edited"] != BEFORE
    return _edited(plain, settings) if wanted else plain


# ---- props of the view


def _compares(request: TraceRequest) -> bool:
    """Whether a second text may stand beside the input."""
    return isinstance(request.input, str | Chat) and request.target is None


def other(plain: TraceRequest, *, words: bool) -> dict[str, Any]:
    """Props of the view: the trace of the second text beside the first; {} without one."""
    title = session.get(PAGE, SECOND)
    second = _second(plain, title)
    if second is None or not _compares(plain):
        return {}
    try:
        return {"other": {"trace": shared.entry_for(second, words=words).id, "title": title}}
    except ValueError as error:
        shared.error_line(f"Second text: {error}")
        return {}


def is_difference(edited: TraceRequest) -> bool:
    """Whether a view of a request shows what its edits changed."""
    return bool(edited.edits) and session.get(PAGE, "edited") == DIFFERENCE


def props(edited: TraceRequest) -> dict[str, Any]:
    """Props of the view of a request with the edits that are on: all edits in order, and what can
    be done to them."""
    return {
        "edits": [
            {"values": compute.edit_values(each, NAMES), "said": each.describe(), "on": on}
            for each, on in _now()
        ],
        "edited": bool(edited.edits) and session.get(PAGE, "edited") != BEFORE,
        "difference": is_difference(edited),
        "both": session.get(PAGE, "edits_in") == BOTH,
        "undo": bool(_history("past")),
        "redo": bool(_history("future")),
        "compares": _compares(edited),
    }


# ---- what the Lab asks for


def take() -> None:
    """Does what the view asked for since the last run; after `link_on_entry.enter`."""
    value = (st.session_state.get(f"{PAGE}_view") or {}).get("edit")
    sent = value.get("sent") if isinstance(value, Mapping) else None
    session.take(f"{PAGE}/edits", sent if isinstance(sent, list) else (), _do)


def _do(asked: Mapping[str, Any]) -> None:
    """Does one thing that the view asked for; what it cannot is said in a line."""
    session.fold(PAGE)
    what, value = asked.get("do"), asked.get("value")
    try:
        if what in ("undo", "redo"):
            _go(*("past", "future") if what == "undo" else ("future", "past"))
        elif what in CHOSEN:
            session.edit(PAGE, {what: str(value)[:MOST_SECOND]})
        else:
            second = asked.get(SECOND)
            change = _change(str(what), value)
            change |= {} if second is None else {SECOND: str(second)[:MOST_SECOND]}
            stage = {} if session.get(PAGE, "edited") == DIFFERENCE else {"edited": AFTER}
            _undoable(partial(session.edit, PAGE, change | stage))
    except ValueError as error:
        st.session_state[PROBLEM] = str(error)


def _change(what: str, value: Any) -> dict[str, str]:
    """The settings once an edit is switched, or toggled: in the place of one with another value,
    or last."""
    if what == "clear":
        return {**NONE}
    if what not in ("toggle", "switch"):
        return {}
    edit, pairs = compute.edit_of(value, NAMES), _now()
    if what == "switch":
        pairs = [(each, on ^ (each == edit)) for each, on in pairs]
    else:
        placed, place = {_place(each): (each, on) for each, on in pairs}, _place(edit)
        before, on = placed.get(place, (None, True))
        placed[place] = edit, on
        if before == edit:
            del placed[place]
        pairs = [*placed.values()]
    off = ".".join(str(number) for number, (_, on) in enumerate(pairs) if not on)
    text = compute.format_edits([each for each, _ in pairs], NAMES)
    return {"edits": text, "off": off}


def _place(edit: Any) -> str:
    """What an edit acts on, without the value that it gives it."""
    name, given = type(edit).__name__, compute.arguments(edit)
    return repr([name, {key: given[key] for key in given if key not in SETS.get(name, ())}])


def _undoable(action: Callable[[], None]) -> None:
    """Does something to the edits that “Undo” takes back."""
    before = _listed()
    action()
    past = _history("past")
    past.append(before)
    del past[:-MOST_UNDONE]
    _history("future").clear()


def _go(there: str, back: str) -> None:
    """Goes to the last state of one history, and notes that of now in the other."""
    steps, others, before = _history(there), _history(back), _listed()
    if steps:
        session.edit(PAGE, steps[-1])
        steps.pop()
        others.append(before)


def _history(name: str) -> list[dict[str, str]]:
    return st.session_state.setdefault(f"{PAGE}/edits/{name}", [])


def _listed() -> dict[str, str]:
    settings = session.current(PAGE).settings
    return {name: settings[name] for name in LISTED}


def cleared() -> dict[str, str]:
    """Settings without edits, for another model or an example; “Undo” brings the edits back."""
    if session.get(PAGE, "edits"):
        _undoable(lambda: None)
    return {**NONE, "edited": AFTER}


def _now() -> Pairs:
    """The edits of now; none for a text that has none."""
    try:
        return _pairs(session.current(PAGE).settings, NAMES)
    except ValueError:
        return []


def _pairs(settings: Mapping[str, Any], names: Mapping[str, TraceRequest]) -> Pairs:
    edits = compute.parse_edits(settings["edits"], names) if settings["edits"] else ()
    off = settings["off"].split(".")
    return [(each, str(number) not in off) for number, each in enumerate(edits)]
