"""What is changed in the pass: edits from the link and from the view, listed in words above it."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import streamlit as st

from models.request import Chat, File, Options, Picture, Several, Source, TraceRequest
from viz.api import samples, tracing
from viz.pages import shared
from viz.pages.explore import compute, old_links, runs
from viz.pages.explore.names import PAGE
from viz.pages.state import link_on_entry, session
from viz.pages.state import params as link
from viz.pages.widgets import attention, controls, pictures

SECOND = "second"  # the name of the second input in the text of edits
BEFORE, AFTER, DIFFERENCE = "before", "after", "difference"
EDIT_VIEWS = {BEFORE: "Before", AFTER: "After", DIFFERENCE: "Difference"}
EDIT_VIEWS_HELP = (
    "The pass without the edits, the pass with them, or what each weight gained or lost: the"
    " second minus the first"
)
FIRST, BOTH = "first", "both"
ALSO_HELP = "The pass that stands beside gets the same edits. Off: they change the first alone"
PARAMS = (
    link.text("edits", ""),
    link.numbers("off", 63),
    link.text(SECOND, ""),
    link.choice("edited", AFTER, EDIT_VIEWS),
    link.choice("edits_in", FIRST, (FIRST, BOTH)),
)
MOST_SECOND = 2000  # characters of a second input
MOST_UNDONE = 50
NAMED = TraceRequest(Source("built", ""), "")  # stands for the second input where no pass is made
PROBLEM = f"{PAGE}/edits/problem"


@dataclass(frozen=True)
class Listed:
    """The edits of the page.

    Attributes:
        edits: all of them, in order.
        off: numbers of those that are switched off.
        second: the text of the second input, from which patches take activations.
    """

    edits: tuple[Any, ...] = ()
    off: frozenset[int] = frozenset()
    second: str = ""

    @property
    def on(self) -> tuple[Any, ...]:
        """Those that are switched on."""
        return tuple(each for number, each in enumerate(self.edits) if number not in self.off)

    def without(self, number: int) -> "Listed":
        """The others."""
        kept = [each for each in range(len(self.edits)) if each != number]
        off = frozenset(place for place, each in enumerate(kept) if each in self.off)
        return replace(self, edits=tuple(self.edits[each] for each in kept), off=off)

    def toggled(self, edit: Any) -> "Listed":
        """The same without an edit, or with it: in the place of one with another value, or last."""
        for number, each in enumerate(self.edits):
            if _place(each) == _place(edit) and each != edit:
                edits = (*self.edits[:number], edit, *self.edits[number + 1 :])
                return replace(self, edits=edits)
        texts = [_text([each]) for each in self.edits]
        if (text := _text([edit])) in texts:
            return self.without(texts.index(text))
        return replace(self, edits=(*self.edits, edit))


# ---- requests


def request(plain: TraceRequest) -> TraceRequest:
    """The request with the edits that are switched on; the same if there are none."""
    settings = session.current(PAGE).settings
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
        session.edit(PAGE, _settings(Listed()))
        return plain


def _edited(plain: TraceRequest, settings: Mapping[str, Any]) -> TraceRequest:
    """A request with the edits of some settings that are switched on."""
    second = second_request(plain, settings[SECOND])
    edits = _listed(settings, {} if second is None else {SECOND: second}).on
    several = second is not None and isinstance(second.input, Several)
    if several and any(hasattr(each, "source") for each in edits):
        raise ValueError("a patch takes from one input: the second is a list of prompts")
    return replace(plain, edits=edits)


def second_request(plain: TraceRequest, second: str) -> TraceRequest | None:
    """The request of a second input, read as the first is; None without one.

    Of prompts whose mean is shown it is one prompt, or several in a line each.
    """
    given, other = plain.input, None
    if not second.strip():
        return None
    if isinstance(given, Picture):
        file = _picture(second)
        other = None if file is None else replace(given, file=file)
    elif isinstance(given, Several):
        turn = Chat if isinstance(given.texts[0], Chat) else str
        prompts = [turn(line.strip()) for line in second.splitlines() if line.strip()]
        other = Several(tuple(prompts)) if len(prompts) > 1 else prompts[0]
    elif isinstance(given, str | tuple | Chat):
        other = Chat(second) if isinstance(given, Chat) else second
    return None if other is None else replace(plain, input=other, options=Options(hidden=True))


def _picture(name: str) -> File | None:
    """A picture of the page by its name, such as `photo:flower`; None if it is not here."""
    kind, _, place = name.partition(":")
    if kind == "upload":
        return pictures.strip(PAGE).get(place)
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
    return isinstance(request.input, str | Chat | Several) and request.target is None


def with_source(beside: Mapping[str, Any]) -> dict[str, Any]:
    """Props of a second picture or model; of a picture with its name as the source of patches."""
    name = session.get(PAGE, "compare")
    if not name.startswith(("photo:", "upload:")):
        return {**beside}
    return {**beside, "second": {**beside["second"], "source": name}}


def other(plain: TraceRequest, between: tracing.Between) -> dict[str, Any]:
    """Props of the view: the trace of the second text beside the first; {} without one."""
    title = session.get(PAGE, SECOND)
    second = second_request(plain, title)
    if second is None or not _compares(plain):
        return {}
    try:
        held = shared.entry_for(second, between)
    except ValueError as error:
        shared.error_line(f"Second text: {error}")
        return {}
    picture = {"trace": held.id, "made": held.serial, "heads": attention.heads_of(held)}
    return {"other": {**picture, "title": title, "mean": isinstance(second.input, Several)}}


def is_difference(edited: TraceRequest) -> bool:
    """Whether a view of a request shows what its edits changed."""
    return bool(edited.edits) and session.get(PAGE, "edited") == DIFFERENCE


def props(edited: TraceRequest) -> dict[str, Any]:
    """Props of the view: that it may ask for edits and a second text, the edits that are on,
    whether the pass in view has them, and whether it subtracts.
    """
    on = [_text([each]) for each in edited.edits]
    after = bool(on) and session.get(PAGE, "edited") != BEFORE
    shown_as = {"edited": after, "difference": is_difference(edited)}
    return {"edits": on, **shown_as, "compares": _compares(edited)}


def take() -> None:
    """Makes the edits that the view asked for since the last run, or takes them back.

    After `link_on_entry.enter`. The view is polled in every run: a callback would be lost if
    another run replaced this one.
    """
    state = st.session_state
    value = (state.get(f"{PAGE}_view") or {}).get("edit")
    sent = value.get("sent") if isinstance(value, Mapping) else None
    taken: list[str] = state.setdefault(f"{PAGE}/edits/taken", [])
    asked: dict[str, Callable[[], None]] = {}
    for each in sent if isinstance(sent, list) else []:
        id, text, second = (each.get(name) for name in ("id", "text", SECOND))
        if isinstance(id, str) and id not in taken and isinstance(text, str):
            add = partial(_add, text, second if isinstance(second, str) else "")
            asked[id] = STEPS.get(text, add)
    session.defer(asked.values())
    taken.extend(asked)
    del taken[:-MOST_UNDONE]
    session.catch_up()


# ---- the strip of edits


def strip(
    edited: TraceRequest, params: Iterable[link.Param], params_of: link_on_entry.ParamsOf
) -> None:
    """Lists the edits, with what can be done to them; nothing where there never was one.

    Args:
        edited: the request, with the edits that are on.
        params: of the page now.
        params_of: of the page, for a link.
    """
    if problem := st.session_state.pop(PROBLEM, ""):
        shared.error_line(problem)
    listed, past, future = _now(), _history("past"), _history("future")
    if not (listed.edits or past or future or runs.kept()):
        return
    with st.container(key=f"{PAGE}_edits", gap="xsmall"):
        key = f"{PAGE}_edits_all"
        with st.container(key=key, horizontal=True, vertical_alignment="center", gap="small"):
            if edited.edits:
                help = EDIT_VIEWS_HELP
                controls.choice(PAGE, "edited", "Shown", EDIT_VIEWS, help, collapsed=True)
            clear = partial(_become, Listed())
            for name, label, action, enabled, help in (
                ("undo", "Undo", _undo, past, "Takes the last change of the list back (Ctrl+Z)"),
                ("redo", "Redo", _redo, future, "Makes it again (Ctrl+Y)"),
                ("remove", "Remove all", clear, listed.edits, None),
            ):
                st.button(
                    label,
                    key=f"{PAGE}_edits_{name}",
                    on_click=session.callback(action),
                    disabled=not enabled,
                    help=help,
                )
            if listed.edits and session.get(PAGE, "compare"):
                on = session.get(PAGE, "edits_in") == BOTH
                switch = partial(_switch_beside, listed)
                _toggle("Edit the second too", f"{PAGE}_edits_in", on, switch, ALSO_HELP)
            run = runs.now(params, edited)
            enabled = bool(listed.edits or past or future)
            runs.draw(run, partial(_open, params_of=params_of), enabled=enabled)
        for number, edit in enumerate(listed.edits):
            _row(listed, number, edit)
        if listed.second and any(hasattr(edit, "source") for edit in listed.edits):
            st.caption(f"Second input: “{shared.plain(_title(listed.second))}”")
        runs.compare(run)


def _row(listed: Listed, number: int, edit: Any) -> None:
    """One edit: its switch with its sentence, and a button that removes it."""
    name = f"{PAGE}_edit_{number}"
    with st.container(key=f"{name}_row", horizontal=True, vertical_alignment="center", gap="small"):
        said, on = shared.plain(edit.describe()), number not in listed.off
        _toggle(said, f"{name}_on", on, partial(_switch, listed, number))
        removed = partial(_become, listed.without(number))
        controls.button("✕", f"{name}_remove", removed, help="Remove this edit")


def _toggle(
    label: str, key: str, on: bool, action: Callable[[], None], help: str | None = None
) -> None:
    st.session_state[key] = on
    st.toggle(label, key=key, on_change=session.callback(action), help=help, width="content")


def _title(second: str) -> str:
    """The second input in words: a text itself, of a picture its name."""
    kind, _, name = second.partition(":")
    if kind == "photo" and name in samples.PICTURES:
        return samples.TITLES.get(name, name)
    return "your picture" if kind == "upload" and name in pictures.strip(PAGE) else second


# ---- what is done to the list


def _undo_point() -> Callable[[], None]:
    """Remembers the list before a change; calling the result afterwards lets “Undo” restore it."""
    past, future, before = _history("past"), _history("future"), _now()

    def note() -> None:
        past.append(before)
        del past[:-MOST_UNDONE]
        future.clear()

    return note


def _add(text: str, second: str) -> None:
    """Adds the one edit of a text, or removes it where it is there; "" chooses a second input."""
    session.fold(PAGE)
    listed, second = _now(), second[:MOST_SECOND]
    if text:
        try:
            (edit,) = compute.parse_edits(text, {SECOND: NAMED})
        except ValueError as error:
            st.session_state[PROBLEM] = str(error)
            return
        listed, second = listed.toggled(edit), second or listed.second
    _become(replace(listed, second=second))


def _switch(listed: Listed, number: int) -> None:
    """Switches an edit on or off, if the list is still the one that its toggle was drawn for.

    Streamlit takes what the browser last held of a toggle that is gone for a change of it.
    """
    session.fold(PAGE)
    if _now() == listed:
        _become(replace(listed, off=listed.off ^ {number}))


def _switch_beside(listed: Listed) -> None:
    """Applies the edits to the second model or input too, or no longer; see `_switch`."""
    session.fold(PAGE)
    if _now() == listed:
        there = session.get(PAGE, "edits_in")
        session.edit(PAGE, {"edits_in": FIRST if there == BOTH else BOTH})


def _become(listed: Listed) -> None:
    """Makes the list another one, which can be undone."""
    session.fold(PAGE)
    note = _undo_point()
    session.edit(PAGE, _settings(listed))
    note()


def _open(run: runs.Run, params_of: link_on_entry.ParamsOf) -> None:
    """Shows a kept run; “Undo” returns to the edits of now."""
    session.fold(PAGE)
    note = _undo_point()
    runs.open_run(run, params_of)
    note()


def _go(there: str, back: str) -> None:
    """Goes to the last list of one history, and notes that of now in the other."""
    session.fold(PAGE)
    steps, others, before = _history(there), _history(back), _now()
    if steps:
        session.edit(PAGE, _settings(steps[-1]))
        steps.pop()
        others.append(before)


_undo, _redo = partial(_go, "past", "future"), partial(_go, "future", "past")
STEPS = {"undo": _undo, "redo": _redo}  # as a view asks for them


def _history(name: str) -> list[Listed]:
    return st.session_state.setdefault(f"{PAGE}/edits/{name}", [])


# ---- as settings


def _now() -> Listed:
    """The list of now; empty for a text that is none."""
    try:
        return _listed(session.current(PAGE).settings, {SECOND: NAMED})
    except ValueError:
        return Listed()


def _listed(settings: Mapping[str, Any], names: Mapping[str, TraceRequest]) -> Listed:
    if not settings["edits"]:
        return Listed(second=settings[SECOND])
    edits = compute.parse_edits(settings["edits"], names)
    off = {int(each) for each in settings["off"].split(".") if each}
    return Listed(edits, frozenset(off & {*range(len(edits))}), settings[SECOND])


def _settings(listed: Listed) -> dict[str, str]:
    off = ".".join(map(str, sorted(listed.off)))
    return {"edits": _text(listed.edits), "off": off, SECOND: listed.second}


def _text(edits: Iterable[Any]) -> str:
    """The text of edits, in which whatever they take from is the second input."""
    named = [_with(each, source=NAMED) if hasattr(each, "source") else each for each in edits]
    return compute.format_edits(named, {SECOND: NAMED}) if named else ""


def _place(edit: Any) -> tuple[type, str] | Any:
    """What an edit sets to a value, that aside; the edit itself where it sets none."""
    if type(edit).__name__ != "SetWeights":
        return edit
    return type(edit), _text([_with(edit, value=0)])


def _with(edit: Any, **changed: Any) -> Any:
    """The same edit with other arguments."""
    return type(edit)(**{**compute.arguments(edit), **changed})
