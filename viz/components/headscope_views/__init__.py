"""The browser side as one Streamlit component: props in, values and events out."""

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any, Literal

HTML = '<div class="headscope" aria-busy="true"></div>'  # until something is shown in it


def view(
    kind: str,
    props: Mapping[str, Any],
    *,
    key: str,
    on: Iterable[str] | Mapping[str, Callable[[], None]] = (),
    default: Mapping[str, Any] | None = None,
    width: int | Literal["stretch", "content"] = "stretch",
) -> Any:
    """Shows what `kind` names; `assets/types.d.ts` has the props of each kind.

    Args:
        kind: "text", "image", "architecture", "address", "keys", "mode", "preload", "slider",
            "entry" or "copy".
        props: plain JSON; they go one way and are complete each time.
        key: constant for one place in the page; a new one mounts the view anew.
        on: the values and events the kind may send, each with what is called before the rerun it
            causes; a name alone only makes it part of the result.
        default: what values are before the kind has sent any.
        width: in pixels, or what it may take.

    Returns:
        A mapping with an entry for each name of `on`: the value last sent, the event of this run,
        or None.
    """
    called = dict(on) if isinstance(on, Mapping) else dict.fromkeys(on, _nothing)
    listeners = {f"on_{name}_change": action for name, action in called.items()}
    data = {**props, "kind": kind}
    return _component()(key=key, data=data, default=dict(default or {}), width=width, **listeners)


def _nothing() -> None:
    """Called before a rerun that only has to happen."""


@cache
def _component() -> Callable[..., Any]:
    """Registers the component once a process. At the first call, not at import: Streamlit finds
    packaged assets only while a server runs, and standalone.py is there for places without one.
    """
    from streamlit.components.v2 import component

    return component("headscope-views.view", html=HTML, css="views.css", js="streamlit/main.js")
