"""Page states in the Streamlit session, and the keys of their widgets.

A widget key contains the page's revision and a number of its mount, so a stale event addresses a
widget that no longer exists. Streamlit's own widgets are passed the same initial value as long as
they are mounted; custom ones the current value, which counts only when they mount: they may do so
again within a revision, and Streamlit remembers no value for them.
"""

import secrets
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

import streamlit as st

from viz.api.pool import issued
from viz.pages.state import attachments
from viz.pages.state import params as link

Params = Iterable[link.Param]
MOST_TAKEN = 50  # messages of a view that are remembered
ANEW = object()  # a shape that no widget has: forces a remount at the next draw
APP = "app"  # settings shared by all pages
APP_PARAMS = (
    link.choice("projector", "no", ("no", "yes")),
    link.choice("device", "cpu", ("cpu", "cuda", "mps")),
)
_APP_DEFAULTS = {param.name: param.default for param in APP_PARAMS}


@dataclass(frozen=True)
class PageState:
    """The state of a page.

    Attributes:
        revision: incremented whenever the app, rather than the user, sets controls. Widget keys
            include it, so a stale event addresses widgets that no longer exist.
        settings: the values of the page's controls.
        selection: initial selection of the view in this revision; None keeps the previous one.
        problems: one message for each invalid part of the link.
    """

    revision: int = 0
    settings: Mapping[str, Any] = field(default_factory=dict)
    selection: Mapping[str, Any] | None = None
    problems: tuple[str, ...] = ()


class _Mount(NamedTuple):
    """A mounted widget, with its initial value; see `widget`."""

    key: str
    revision: int
    value: Any
    shape: Hashable
    empty: Any
    check: Callable[[Any], Any] | None


class _Noted(NamedTuple):
    """What a callback has noted: an action, and the page and revision that it belongs to."""

    action: Callable[[], None]
    page: str = ""
    revision: int = 0


def is_on(page: str) -> bool:
    """Whether the last run was one of this page."""
    return st.session_state.get("state/page") == page


def is_known(page: str) -> bool:
    """Whether the page was entered before."""
    return f"state/{page}" in st.session_state


def current(page: str) -> PageState:
    """The state of an entered page."""
    return st.session_state.get(f"state/{page}", PageState())


def get(page: str, name: str) -> Any:
    """The value of one setting."""
    return current(page).settings[name]


def app(name: str) -> str:
    """The value of an app-wide setting."""
    return {**_APP_DEFAULTS, **current(APP).settings}[name]


def callback(action: Callable[..., None], page: str = "") -> Callable[..., None]:
    """A callback of a widget that runs an action at the start of the run it causes.

    Streamlit abandons a callback that accesses the session state while another event waits, and
    never calls it again: the click would be lost. This one only appends to a list; `catch_up`
    then repeats the action until it completes. An action thus ends with what it changes.

    Args:
        action: what the widget does.
        page: of the widget, if its value is a setting: an event of an earlier revision, which
            carries the values of widgets that no longer exist, is ignored.
    """
    waiting, revision = _waiting(), current(page).revision

    def note(*args: Any) -> None:
        waiting.append(_Noted(partial(action, *args), page, revision))

    return note


def take(view: str, messages: Iterable[Any], action: Callable[[Mapping[str, Any]], None]) -> None:
    """Runs an action for each message of a view, by its id, that no run has taken yet.

    A view is polled in every run: a callback would be lost if another run replaced it.
    """
    taken: list[str] = st.session_state.setdefault(f"state/{view}/taken", [])
    waiting = _waiting()
    for each in messages:
        id = each.get("id") if isinstance(each, Mapping) else None
        if isinstance(id, str) and id not in taken:
            waiting.append(_Noted(partial(action, each)))
            taken.append(id)
    del taken[:-MOST_TAKEN]
    catch_up()


def catch_up() -> None:
    """Runs the actions that callbacks have noted."""
    waiting = _waiting()
    waiting[:] = [each for each in waiting if each.revision == current(each.page).revision]
    while waiting:
        try:
            waiting[0].action()
        except Exception:  # an interruption is none
            waiting.pop(0)
            raise
        waiting.pop(0)


def _waiting() -> list[_Noted]:
    return st.session_state.setdefault("state/waiting", [])


def assign(
    page: str, settings: Mapping[str, Any], selection: Mapping[str, Any] | None = None
) -> None:
    """Sets controls from an action, and the selection of the view; None keeps the selection.

    Entries missing from `selection` take their defaults.
    """
    fold(page)
    begin(page, settings, selection, ())


def edit(page: str, settings: Mapping[str, Any]) -> None:
    """Sets settings from the script; their widgets are remounted when drawn later in the run."""
    mounts = _mounts(page)
    for name in settings.keys() & mounts.keys():
        mounts[name] = mounts[name]._replace(shape=ANEW)
    _change(page, settings)


def widget(
    page: str,
    name: str,
    shape: Hashable = None,
    *,
    empty: Any = None,
    check: Callable[[Any], Any] | None = None,
) -> tuple[str, Any]:
    """The key and the initial value of a setting's widget in this run.

    A widget that was hidden is remounted with the current value: Streamlit discards the state of
    widgets that a complete run does not draw.

    Args:
        page: of the setting.
        name: of the setting.
        shape: anything else the widget's identity depends on (range, options); when it changes, the
            widget is remounted with the current value.
        empty: the value an empty widget represents.
        check: converts and validates values from the browser; on TypeError or ValueError the
            setting is unchanged. For custom widgets: Streamlit validates its own.
    """
    state, now = st.session_state, current(page)
    mounts = _mounts(page)
    mount = mounts.get(name)
    if mount and (mount.revision, mount.shape) == (now.revision, shape) and mount.key in state:
        mounts[name] = mount._replace(check=check)
        return mount.key, mount.value
    state["state/mounted"] = number = state.get("state/mounted", 0) + 1
    key = f"{page}:{now.revision}.{number}:{name}"
    mounts[name] = _Mount(key, now.revision, now.settings[name], shape, empty, check)
    return key, now.settings[name]


def props(page: str, params: Params, paths: Iterable[str] = ()) -> dict[str, Any]:
    """Props with which the browser adopts the page's selection and writes its link.

    Args:
        page: name of the page.
        params: its settings and the selection of the current view, with their current defaults.
        paths: URL paths of the page; `/page` if empty.
    """
    now, params = current(page), tuple(params)
    settings = [p for p in params if p.name in now.settings]
    defaults = {p.name: p.default for p in params if p.name not in now.settings}
    of_app, start = {name: app(name) for name in _APP_DEFAULTS}, now.selection
    if start and not defaults.keys() & start.keys():  # it is for another view of the page
        start = None
    if start is not None:  # None in it takes the default of now, which may depend on the trace
        named = [each for each in start if each in defaults]
        start = {each: defaults[each] if start[each] is None else start[each] for each in named}
    nonce = st.session_state.setdefault("state/nonce", secrets.token_urlsafe(9))
    return {
        "page": page,
        "path": list(paths) or [f"/{page}"],
        "revision": f"{nonce}.{now.revision}",
        "start": start,
        "defaults": defaults,
        "link": link.write(settings, now.settings) | link.write(APP_PARAMS, of_app),
        "session": visitor(),
        "type_size": 1.4 if app("projector") == "yes" else 1.0,
    }


def fold(page: str) -> None:
    """Merges the user's changes to widgets of this revision into the settings.

    Entering a page and `assign` call it; an action that reads settings must call it first.
    """
    state, now = st.session_state, current(page)
    values = {
        name: _value(state[mount.key], mount)
        for name, mount in _mounts(page).items()
        if mount.revision == now.revision and mount.key in state
    }
    _change(page, {name: value for name, value in values.items() if value is not None})


def _mounts(page: str) -> dict[str, _Mount]:
    return st.session_state.setdefault(f"state/{page}/mounts", {})


def _value(widget: Any, mount: _Mount) -> Any:
    """The value of a setting from its widget; None if the widget has no valid value.

    Custom widgets hold their value under a name.
    """
    value = widget.get("value") if isinstance(widget, Mapping) else widget
    if value is None:
        return mount.empty
    try:
        return value if mount.check is None else mount.check(value)
    except (TypeError, ValueError):
        return None


def begin(
    page: str,
    settings: Mapping[str, Any],
    selection: Mapping[str, Any] | None = None,
    problems: Iterable[str] | None = None,
) -> None:
    """Begins a revision of a page, in which all its widgets are new.

    Args:
        page: name of the page.
        settings: that change.
        selection: of the view; None keeps the selection.
        problems: of the link; None keeps them.
    """
    now = current(page)
    lines = now.problems if problems is None else tuple(problems)
    _keep(page, PageState(now.revision + 1, {**now.settings, **settings}, selection, lines))


def _change(page: str, settings: Mapping[str, Any]) -> None:
    """Changes settings within a revision, after which the link's problems are told no more."""
    now = current(page)
    merged = {**now.settings, **settings}
    if merged != now.settings:
        _keep(page, replace(now, settings=merged, problems=()))


def _keep(page: str, state: PageState) -> None:
    st.session_state[f"state/{page}"] = state
    attachments.keep_long_texts(state.settings, visitor())


def visitor() -> str:
    """The id of this visitor in the API, for its shares of uploads and computations."""
    return st.session_state.setdefault("state/visitor", issued())
