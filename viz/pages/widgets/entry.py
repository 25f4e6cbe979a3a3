"""A custom text entry with live updates, whose caret is unaffected by reruns."""

from typing import Literal

from headscope_views import view

from viz.pages.state import session


def text(
    page: str,
    name: str,
    label: str,
    *,
    placeholder: str = "",
    multiline: bool = False,
    bare: bool = False,
    width: int | Literal["stretch"] = "stretch",
) -> str:
    """Draws the entry of a setting; returns its text.

    Args:
        page: of the setting.
        name: of the setting.
        label: above the entry.
        placeholder: of an empty entry.
        multiline: whether Shift and Enter begin a new line; the entry then grows with its text.
        bare: leaves the label to screen readers.
        width: in pixels, or "stretch".
    """
    key, _ = session.widget(page, name, check=_text)
    # the value of now counts where the entry is mounted again
    props = {"label": label, "value": session.get(page, name), "placeholder": placeholder}
    props |= {"multiline": multiline, "bare": bare}
    view("entry", props, key=key, on=("value",), width=width)
    return session.get(page, name)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"expected text, received {type(value).__name__}")
    return value
