"""Widgets shared by the pages: each shows a setting of a page's state and returns its value.

`page` and `name` are those of the setting, `label` stands above or beside the widget, `help` is its
tooltip, widths are in pixels. `collapsed` leaves the label to screen readers, and the help out.
`on_change` is called at the start of the run that a change causes.
"""

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st
from headscope_views import view

from viz.pages.state import session


def slider(
    page: str,
    name: str,
    label: str,
    span: tuple[float, float],
    help: str,
    *,
    step: float = 1,
    width: int = 150,
) -> Any:
    """A slider with live updates while it is dragged: over integers, or decimals by their step.

    Args:
        span: smallest and largest value; the setting is clamped to them.
    """
    low, high = span

    def check(value: float) -> float:
        whole = low + round((value - low) / step) * step
        return type(step)(min(max(whole, low), high))

    key, _ = session.widget(page, name, check=check)
    value = min(max(session.get(page, name), low), high)
    limits = {"min": low, "max": high, "step": step, "value": value}
    view("slider", {"label": label, "help": help, **limits}, key=key, on=("value",), width=width)
    return type(step)(value)


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
    st.segmented_control(
        label,
        options=list(titles),
        format_func=titles.__getitem__,
        default=value,
        key=key,
        required=True,
        **_labelled(help, collapsed),
    )
    return session.get(page, name)


def select(
    page: str,
    name: str,
    label: str,
    titles: Mapping[Any, str],
    help: str,
    *,
    width: int = 160,
    on_change: Callable[..., None] | None = None,
    collapsed: bool = False,
) -> Any:
    """A drop-down list: one of many options."""
    options = list(titles)
    key, value = session.widget(page, name, tuple(options))
    st.selectbox(
        label,
        options=options,
        format_func=titles.__getitem__,
        index=options.index(value),
        key=key,
        width=width,
        on_change=on_change and session.callback(on_change, page),
        **_labelled(help, collapsed),
    )
    return session.get(page, name)


def _labelled(help: str, collapsed: bool) -> dict[str, Any]:
    """Label and help of a widget."""
    visibility = "collapsed" if collapsed else "visible"
    return {"help": None if collapsed else help, "label_visibility": visibility}


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
    st.number_input(
        label,
        min_value=span[0],
        max_value=span[1],
        step=step,
        value=value,
        format=format,
        key=key,
        help=help or None,
        width=width,
        placeholder=auto or None,
    )
    return session.get(page, name)


def text_input(page: str, name: str, label: str, help: str = "", **more: Any) -> str:
    """A text input that takes effect on Enter or on leaving the box; `more` as Streamlit has it."""
    key, value = session.widget(page, name)
    st.text_input(label, value=value, key=key, help=help or None, **more)
    return session.get(page, name)


def button(
    label: str,
    key: str,
    on_click: Callable[..., None],
    *args: Any,
    chosen: bool = False,
    help: str | None = None,
) -> None:
    """A button; the selected one of several is highlighted."""
    st.button(
        label,
        key=key,
        on_click=session.callback(on_click),
        args=args,
        help=help,
        type="primary" if chosen else "secondary",
    )
