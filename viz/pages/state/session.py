"""Page states in the Streamlit session: the reader of the link, the maker of widget keys.

Python reads the link when a page is entered; the browser writes it. A widget's key carries the
page's revision and the widget's mount, and its initial value is constant while it stays mounted:
an event sent before the controls were set anew addresses a widget that no longer exists.
"""

import secrets
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from viz.pages.state import attachments
from viz.pages.state import params as link
from viz.pages.state.page_state import Assigned, Edited, Entered, Event, PageState, reduce

Params = Iterable[link.Param]
SELECTED = frozenset(
    {"layer", "attention", "tower", "head", "token", "direction", "scale", "form", "shown", "part"}
)
ANEW = object()  # a shape that no widget has: it is mounted anew when it is next drawn
APP = "app"  # settings that hold on every page
APP_PARAMS = (
    link.choice("projector", "no", ("no", "yes")),
    link.choice("device", "cpu", ("cpu", "cuda", "mps")),
)
APP_NAMES = frozenset(param.name for param in APP_PARAMS)


@dataclass(frozen=True)
class Mount:
    """A widget in the page.

    Attributes:
        key: of the widget.
        number: counts the mounts of a setting within a revision.
        revision: of the page.
        value: the value the widget began with.
        shape: what its identity depends on besides.
        empty: the value that an empty widget stands for; None if it is never empty.
        check: what makes a setting of a value that the browser sent, if not the value itself.
    """

    key: str
    number: int
    revision: int
    value: Any
    shape: Hashable
    empty: Any = None
    check: Callable[[Any], Any] | None = None


def enter(
    page: str, params: Params | Callable[[Mapping[str, str]], Params], *, view: bool = True
) -> PageState:
    """The page's state in this run; to be called once, before anything of the page is drawn.

    Args:
        page: its name, which its widget keys start with.
        params: its settings and its view's selection; or a function that gives them for a link.
        view: whether the page has a view, which holds the selection; without one, what is called
            as a part of it (a head, a scale) is a setting like any other.
    """
    enter_app(page)
    before = st.session_state.get("state/page")
    st.session_state["state/page"] = page
    if before is not None:
        fold(before)  # what was chosen just before it was left came together with the new page
    if before == page:
        return current(page)
    query = dict(st.query_params)
    if query or _key(page) not in st.session_state:
        found = tuple(params(query) if callable(params) else params)
        _apply(page, _linked(found, query, SELECTED if view else frozenset()))
    else:
        _apply(page, Entered())
    return current(page)


def enter_app(page: str) -> None:
    """Takes what a link says for every page; what it does not say stays as it is.

    `enter` does so itself; what draws such a setting above the page calls it first.
    """
    fold(APP)
    if st.session_state.get("state/page") == page:
        return
    query = {p.name: st.query_params[p.name] for p in APP_PARAMS if p.name in st.query_params}
    values, _ = link.read(APP_PARAMS, query)
    present = current(APP).settings
    values = {name: value for name, value in values.items() if name in query or name not in present}
    if any(present.get(name) != value for name, value in values.items()):
        _apply(APP, Assigned(values))


def current(page: str) -> PageState:
    """The state of a page that was entered."""
    return st.session_state.get(_key(page), PageState())


def get(page: str, name: str) -> Any:
    """The value of one setting."""
    return current(page).settings[name]


def app(name: str) -> str:
    """The value of a setting that holds on every page."""
    settings = current(APP).settings
    return settings.get(name, next(p.default for p in APP_PARAMS if p.name == name))


def assign(
    page: str, settings: Mapping[str, Any], selection: Mapping[str, Any] | None = None
) -> None:
    """Sets controls from a callback, and what the view selects; None leaves that where it is.

    What `selection` leaves out takes its default.
    """
    fold(page)
    _apply(page, Assigned(settings, selection))


def edit(page: str, settings: Mapping[str, Any]) -> None:
    """Sets settings from the script; widgets of theirs that it draws later are mounted anew."""
    mounts: dict[str, Mount] = st.session_state.get(f"state/{page}/mounts", {})
    for name in settings.keys() & mounts.keys():
        mounts[name] = replace(mounts[name], shape=ANEW)
    _apply(page, Edited(current(page).revision, settings))


def widget(
    page: str,
    name: str,
    shape: Hashable = None,
    *,
    empty: Any = None,
    check: Callable[[Any], Any] | None = None,
) -> tuple[str, Any]:
    """The key and the initial value of the widget of a setting, for this run.

    A widget that comes back after it was hidden is mounted anew, with the present value: Streamlit
    forgets the state of widgets that a complete run does not draw.

    Args:
        page: whose setting.
        name: of the setting.
        shape: what the widget's identity depends on besides (its range or options); when it
            changes, the widget is mounted anew with the present value.
        empty: the value that the widget stands for while it is empty.
        check: makes a setting of what the browser sends; where it raises TypeError or ValueError
            the setting stays. For widgets of our own: Streamlit checks what its own send.
    """
    state, now = st.session_state, current(page)
    mounts: dict[str, Mount] = state.setdefault(f"state/{page}/mounts", {})
    mount = mounts.get(name)
    if mount is None or mount.revision != now.revision:
        number = 0
    elif mount.shape == shape and mount.key in state:
        mounts[name] = replace(mount, check=check)
        return mount.key, mount.value
    else:
        number = mount.number + 1
    key = f"{page}:{now.revision}.{number}:{name}"
    mounts[name] = Mount(key, number, now.revision, now.settings[name], shape, empty, check)
    return key, now.settings[name]


def element(page: str, name: str, shape: Hashable = None) -> str:
    """The key of a widget that holds no setting: constant while it stays mounted.

    To be called once a run.

    Args:
        page: where it is drawn.
        name: of the widget.
        shape: when it changes, the widget is mounted anew, with nothing in it.
    """
    state = st.session_state
    drawn: dict[str, tuple[int, Hashable]] = state.setdefault(f"state/{page}/elements", {})
    number, before = drawn.get(name, (0, shape))
    if before != shape or f"{page}:{name}.{number}" not in state:
        number += 1
    drawn[name] = number, shape
    return f"{page}:{name}.{number}"


def props(page: str, params: Params, paths: Iterable[str] = ()) -> dict[str, Any]:
    """What the browser needs to adopt the page's selection and to write its link.

    Args:
        page: its name.
        params: its settings and its view's selection, with the defaults of now. Of a page with
            several views, the selection of the one that is shown.
        paths: the addresses it may have; `/page` if none.
    """
    now, params = current(page), tuple(params)
    settings = [p for p in params if p.name in now.settings]
    selected = [p for p in params if p.name not in now.settings]
    app_settings = {p.name: app(p.name) for p in APP_PARAMS}
    return {
        "page": page,
        "path": list(paths) or [f"/{page}"],
        "revision": f"{_nonce()}.{now.revision}",
        "start": _start(now.selection, {p.name for p in selected}),
        "defaults": {p.name: p.default for p in selected},
        "link": link.write(settings, now.settings) | link.write(APP_PARAMS, app_settings),
        "session": _nonce(),
        "type_size": 1.4 if app("projector") == "yes" else 1.0,
    }


def _start(selection: Mapping[str, Any] | None, names: set[str]) -> dict[str, Any] | None:
    """What a view selects at first; None if the selection is about another view of the page."""
    if selection is None or (selection and not names & selection.keys()):
        return None
    return {name: value for name, value in selection.items() if name in names}


def query_of(page: str, params: Params) -> dict[str, str]:
    """The settings' part of a page's link."""
    settings = current(page).settings
    return link.write([p for p in params if p.name in settings], settings)


def _linked(
    params: tuple[link.Param, ...], query: Mapping[str, str], selected: frozenset[str]
) -> Assigned:
    """What a link sets; long texts stand in it by their digest and are looked up.

    Settings of pages that were open before are not this link's: Back, pressed while another page
    is on its way, can hand that page the address of an older one.
    """
    before: set[str] = st.session_state.setdefault("state/names", set())
    values, problems = link.read((*params, *APP_PARAMS), query, before)
    before.update(param.name for param in params)
    values = {name: values[name] for name in (param.name for param in params)}
    for name, digest in link.wanted(params, query).items():
        text = attachments.text(digest)
        if text is not None:
            values[name] = text
        else:
            problems.append(
                f"This link was made with a text too long for a link (SHA-256 {digest[:12]}…):"
                " paste that text to see the same picture."
            )
    selection = {name: values.pop(name) for name in [*values] if name in selected}
    return Assigned(values, selection, tuple(problems))


def fold(page: str) -> None:
    """Takes over what the user chose in the widgets of this revision.

    `enter` and `give` do so themselves; a callback that reads settings calls it first.
    """
    state, now = st.session_state, current(page)
    mounts: dict[str, Mount] = state.get(f"state/{page}/mounts", {})
    values = {
        name: _value(state[mount.key], mount)
        for name, mount in mounts.items()
        if mount.revision == now.revision and mount.key in state
    }
    _apply(page, Edited(now.revision, {n: v for n, v in values.items() if v is not None}))


def _value(widget: Any, mount: Mount) -> Any:
    """The setting that a widget stands for; None if it stands for none.

    Views of ours hold their value under a name; a toggle's stands as a word.
    """
    if isinstance(widget, bool):
        return "yes" if widget else "no"
    value = widget.get("value") if isinstance(widget, Mapping) else widget
    if value is None:
        return mount.empty
    try:
        return value if mount.check is None else mount.check(value)
    except (TypeError, ValueError):
        return None


def _apply(page: str, event: Event) -> None:
    before = current(page)
    after = reduce(before, event)
    if after is not before:
        st.session_state[_key(page)] = after
        attachments.keep_long_texts(after.settings)


def _key(page: str) -> str:
    return f"state/{page}"


def _nonce() -> str:
    return st.session_state.setdefault("state/nonce", secrets.token_urlsafe(9))
