"""Widgets shared by the pages; each keeps its value in the page state."""

from collections.abc import Callable, Mapping, Sequence
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
    allowed: Sequence[int] = (),
) -> int:
    """A slider over integers, with live updates while it is dragged.

    Args:
        page: of the setting.
        name: of the setting.
        label: above the slider.
        span: smallest and largest value.
        help: tooltip.
        step: between two values.
        width: in pixels.
        allowed: the valid values, if not all are valid: the slider snaps to the nearest.

    Returns:
        The setting, clamped to the span.
    """
    return int(_slider(page, name, label, span, help, step, width, allowed))


def decimal_slider(
    page: str,
    name: str,
    label: str,
    span: tuple[float, float],
    help: str,
    *,
    step: float,
    width: int = 260,
) -> float:
    """A slider over decimal numbers; otherwise as `slider`."""
    return float(_slider(page, name, label, span, help, step, width, ()))


def _slider(
    page: str,
    name: str,
    label: str,
    span: tuple[float, float],
    help: str,
    step: float,
    width: int,
    allowed: Sequence[float],
) -> float:
    low, high = span

    def check(value: float) -> float:
        whole = low + round((value - low) / step) * step
        return type(step)(min(max(whole, low), high))

    key, _ = session.widget(page, name, check=check)
    value = min(max(session.get(page, name), low), high)
    view(
        "slider",
        {
            "label": label,
            "min": low,
            "max": high,
            "step": step,
            "value": value,
            "allowed": list(allowed),
            "help": help,
        },
        key=key,
        on=("value",),
        width=width,
    )
    return value


def choice(
    page: str,
    name: str,
    label: str,
    titles: Mapping[Any, str],
    help: str,
    *,
    on_change: Callable[..., None] | None = None,
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
        help=None if collapsed else help,
        label_visibility="collapsed" if collapsed else "visible",
        on_change=on_change and session.callback(on_change, page),
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
    """A drop-down list: one of many options.

    `collapsed` leaves the label to screen readers, and the help out.
    """
    options = list(titles)
    key, value = session.widget(page, name, tuple(options))
    st.selectbox(
        label,
        options=options,
        format_func=titles.__getitem__,
        index=options.index(value),
        key=key,
        width=width,
        help=None if collapsed else help,
        label_visibility="collapsed" if collapsed else "visible",
        on_change=on_change and session.callback(on_change, page),
    )
    return session.get(page, name)


def toggle(
    page: str, name: str, label: str, help: str, values: tuple[str, str] = ("no", "yes")
) -> bool:
    """A toggle.

    Args:
        page: of the setting.
        name: of the setting.
        label: beside the toggle.
        help: tooltip.
        values: of the setting, off and on.
    """
    key, value = session.widget(page, name, check=lambda on: values[bool(on)])
    st.toggle(label, value=value == values[1], key=key, help=help)
    return session.get(page, name) == values[1]


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
        page: of the setting.
        name: of the setting.
        label: above the box.
        span: smallest and largest value.
        help: tooltip.
        step: between two values.
        width: in pixels.
        format: printf format of the number.
        auto: placeholder of an empty box, which then represents 0.
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


def text_input(
    page: str,
    name: str,
    label: str,
    help: str = "",
    *,
    placeholder: str = "",
    height: int | None = None,
    max_chars: int | None = None,
    width: int | Literal["stretch"] = "stretch",
    on_change: Callable[..., None] | None = None,
) -> str:
    """A text input that takes effect on Enter or on leaving the box.

    Args:
        page: of the setting.
        name: of the setting.
        label: above the box.
        help: tooltip.
        placeholder: of an empty box.
        height: in pixels, for a multi-line box.
        max_chars: maximum number of characters.
        width: in pixels.
        on_change: called at the start of the run that the change causes.
    """
    key, value = session.widget(page, name)
    options: dict[str, Any] = {"help": help or None, "placeholder": placeholder or None}
    options |= {"key": key, "max_chars": max_chars, "width": width}
    options["on_change"] = on_change and session.callback(on_change, page)
    if height is None:
        st.text_input(label, value=value, **options)
    else:
        st.text_area(label, value=value, height=height, **options)
    return session.get(page, name)


def seed(page: str, help: str = "Seed of the random weights", *, width: int = 130) -> int:
    """The seed of the random weights."""
    return int(number(page, "seed", "Seed", (0, 999), help, width=width))


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
