"""Widgets shared by the pages: each shows a setting of a page's state and returns its value.

`page` and `name` are those of the setting, `label` stands above or beside the widget, `help` is its
tooltip, widths are in pixels. `collapsed` leaves the label to screen readers, and the help out.
"""

from collections.abc import Callable, Mapping
from typing import Any, Literal

import streamlit as st
from headscope_views import view

from viz.pages.state import session


def slider(
    page: str,
    name: str,
    label: str,
    span: tuple[int, int],
    help: str,
    *,
    step: int = 1,
    width: int = 150,
) -> int:
    """A slider over whole numbers from the smallest to the largest of a span, with live updates
    while it is dragged; the setting is clamped to the span."""
    low, high = span

    def check(value: float) -> int:
        return min(max(low + round((value - low) / step) * step, low), high)

    key, _ = session.widget(page, name, check=check)
    value = min(max(session.get(page, name), low), high)
    limits = {"min": low, "max": high, "step": step, "value": value}
    view("slider", {"label": label, "help": help, **limits}, key=key, on=("value",), width=width)
    return value


def choice(
    page: str,
    name: str,
    label: str,
    titles: Mapping[Any, str],
    help: str,
    *,
    collapsed: bool = False,
) -> Any:
    """A segmented control: one of a few options, all visible."""
    key, value = session.widget(page, name, tuple(titles))
    options = _options(titles, help, collapsed)
    st.segmented_control(label, default=value, key=key, required=True, **options)
    return session.get(page, name)


def select(
    page: str,
    name: str,
    label: str,
    titles: Mapping[Any, str],
    help: str,
    *,
    width: int,
    on_change: Callable[..., None] | None = None,
    collapsed: bool = False,
) -> Any:
    """A drop-down list: one of many options; `on_change` is called at the start of the next run."""
    key, value = session.widget(page, name, tuple(titles))
    options: dict[str, Any] = {**_options(titles, help, collapsed), "width": width}
    st.selectbox(
        label,
        index=[*titles].index(value),
        key=key,
        on_change=on_change and session.callback(on_change, page),
        **options,
    )
    return session.get(page, name)


def _options(titles: Mapping[Any, str], help: str, collapsed: bool) -> dict[str, Any]:
    visibility = "collapsed" if collapsed else "visible"
    look = {"help": None if collapsed else help, "label_visibility": visibility}
    return {"options": [*titles], "format_func": titles.__getitem__, **look}


def toggle(page: str, name: str, label: str, help: str) -> bool:
    """A toggle between "no" and "yes"."""
    key, value = session.widget(page, name, check=lambda on: "yes" if on else "no")
    st.toggle(label, value=value == "yes", key=key, help=help)
    return session.get(page, name) == "yes"


def number(
    page: str,
    name: str,
    label: str,
    span: tuple[float, float],
    help: str,
    *,
    step: float = 1,
    width: int = 130,
    auto: str = "",
    format: str | None = None,
) -> float:
    """A number input; an emptied box returns to its initial value.

    Args:
        span: smallest and largest value.
        auto: placeholder of an empty box, which then represents 0.
        format: printf format of the number.
    """
    key, value = session.widget(page, name, (*span, step), empty=0 if auto else None)
    if auto:  # a box with an initial value returns to it when emptied
        st.session_state.setdefault(key, value or None)
        value = None
    limits: dict[str, Any] = {"min_value": span[0], "max_value": span[1], "step": step}
    look: dict[str, Any] = {"format": format, "help": help or None, "width": width}
    st.number_input(label, value=value, key=key, placeholder=auto or None, **limits, **look)
    return session.get(page, name)


def text_input(page: str, name: str, label: str, help: str = "", **more: Any) -> str:
    """A text input that takes effect on Enter or on leaving the box; `more` as Streamlit has it."""
    key, value = session.widget(page, name)
    st.text_input(label, value=value, key=key, help=help or None, **more)
    return session.get(page, name)


def entry(
    page: str, name: str, label: str, *, width: int | Literal["stretch"] = "stretch", **props: Any
) -> str:
    """A text entry of our own with live updates, whose caret reruns leave alone.

    `props` are those of its view: `placeholder` of an empty entry; `bare`, whether the label is
    left to screen readers; `multiline`, whether Shift and Enter begin a new line.
    """
    key, _ = session.widget(page, name, check=_text)
    # the value of now counts where the entry is mounted again
    now = {"label": label, "value": session.get(page, name), "placeholder": ""}
    now |= {"multiline": False, "bare": False, **props}
    view("entry", now, key=key, on=("value",), width=width)
    return session.get(page, name)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"expected text, received {type(value).__name__}")
    return value


def button(
    label: str,
    key: str,
    on_click: Callable[..., None],
    *args: Any,
    chosen: bool = False,
    help: str | None = None,
) -> None:
    """A button; the selected one of several is highlighted."""
    kind: Any = "primary" if chosen else "secondary"
    more: dict[str, Any] = {"args": args, "help": help, "type": kind}
    st.button(label, key=key, on_click=session.callback(on_click), **more)
