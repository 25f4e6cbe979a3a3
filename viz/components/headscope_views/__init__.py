"""The browser views as Streamlit elements: bytes in, what the user chose and asks for out."""

from collections.abc import Callable
from functools import cache
from typing import Any


def explorer(data: bytes, *, key: str, on_change: Callable[[], None]) -> dict[str, Any] | None:
    """All heads, one head's matrix and the text, round one selection.

    Args:
        data: a message of viz/pack.py.
        key: constant for one place in the page; without it every change would remount the view.
        on_change: called before the rerun that a new selection or question causes.

    Returns:
        {"select": {...}, "ask": {...} | None} as last sent by the view; None before that.
    """
    return _view(_registered("explorer", "streamlit.js"), data, key, on_change)


def image(data: bytes, *, key: str, on_change: Callable[[], None]) -> dict[str, Any] | None:
    """A picture, its patches, and every head of a layer over it; as `explorer` otherwise.

    Args:
        data: a message of viz/image.py.
        key: as for `explorer`.
        on_change: as for `explorer`.
    """
    return _view(_registered("image", "streamlit_image.js"), data, key, on_change)


def architecture(data: bytes, *, key: str, on_change: Callable[[], None]) -> dict[str, Any] | None:
    """A network's parts and what flows between them.

    Args:
        data: a message of viz/architecture.py.
        key: as for `explorer`.
        on_change: as for `explorer`.

    Returns:
        {"select": path of the chosen part, "said": number of the choice}; None before a choice.
    """
    return _view(_registered("architecture", "streamlit_architecture.js"), data, key, on_change)


def mode(drawn: str, *, key: str) -> None:
    """Nothing to see: runs the page again when its colours are no longer "light" or "dark".

    Args:
        drawn: what the page was made for.
        key: as for `explorer`.
    """
    mounted = _registered("mode", "streamlit_mode.js", html='<div class="headscope"></div>')
    _view(mounted, drawn.encode(), key, lambda: None)


def keys(*, key: str) -> None:
    """Nothing to see: keys step through a lesson, and go to the next and the previous one.

    Args:
        key: as for `explorer`.
    """
    mounted = _registered("keys", "streamlit_keys.js", html='<div class="headscope"></div>')
    _view(mounted, b"", key, lambda: None)


def _view(
    mounted: Callable[..., Any], data: bytes, key: str, on_change: Callable[[], None]
) -> dict[str, Any] | None:
    view = mounted(data=data, key=key, on_view_change=on_change).get("view")
    return None if view is None else dict(view)


LOADING = '<div class="headscope"><p class="hs-loading">Loading the model …</p></div>'


@cache
def _registered(name: str, script: str, html: str = LOADING) -> Callable[..., Any]:
    """Registers a view once a process. At the first call, not at import: Streamlit finds packaged
    assets only while a server runs, and standalone.py is there for places without one.
    """
    from streamlit.components.v2 import component

    return component(
        f"headscope-views.{name}",
        html=html,
        css="explorer.css",
        js=script,
    )
