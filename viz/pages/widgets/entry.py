"""A custom text entry with live updates, whose caret is unaffected by reruns."""

from typing import Literal

from viz.pages.state import session


def text(
    page: str,
    name: str,
    label: str,
    help: str = "",
    *,
    placeholder: str = "",
    multiline: bool = False,
    width: int | Literal["stretch"] = "stretch",
) -> str:
    """Draws the entry of a setting; returns its text."""
    from headscope_views import view

    key, value = session.widget(page, name, check=_text)
    view(
        "entry",
        {
            "label": label,
            "value": value,
            "help": help,
            "placeholder": placeholder,
            "multiline": multiline,
        },
        key=key,
        on=("value",),
        width=width,
    )
    return session.get(page, name)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"expected text, received {type(value).__name__}")
    return value
