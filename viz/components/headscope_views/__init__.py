"""The browser views as one Streamlit component: props in, values and events out."""

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any, Literal

from viz import web

HTML = '<div class="headscope" aria-busy="true"></div>'  # until something is shown in it


def view(
    kind: str,
    props: Mapping[str, Any],
    *,
    key: str,
    on: Iterable[str] | Mapping[str, Callable[[], None]] = (),
    width: int | Literal["stretch", "content"] = "stretch",
) -> Any:
    """Mounts the component named by `kind`; `viz/web/types.d.ts` defines the props of each kind.

    Args:
        kind: "text", "image", "corpus", "build", "address", "doors", "rail",
            "mode", "story", "preload", "slider", "entry", "files", "choices",
            "runs" or "copy".
        props: plain JSON, complete in every call.
        key: constant while the view stays mounted; a new key mounts a new view.
        on: the values and events the kind may send, each with a callback that runs before the
            rerun it causes; a name alone only adds it to the result.
        width: in pixels, or a width mode of Streamlit.

    Returns:
        A mapping with an entry for each name of `on`: the value last sent, the event of this run,
        or None.
    """
    called = dict(on) if isinstance(on, Mapping) else dict.fromkeys(on, _nothing)
    listeners = {f"on_{name}_change": action for name, action in called.items()}
    data = {**props, "kind": kind, "assets": web.path()}
    # a list: in a mapping Streamlit looks for data frames, for which it imports pandas
    return _component()(key=key, data=[data], width=width, **listeners)


def _nothing() -> None:
    """The callback of an event that only triggers a rerun."""


@cache
def _component() -> Callable[..., Any]:
    """Registers the component once per process.

    On first use, not at import: Streamlit finds packaged assets only while a server runs, and
    a page of its own must work without one.
    """
    from streamlit.components.v2 import component

    package = __name__.partition(".")[0].replace("_", "-")  # of which the views are a part
    return component(f"{package}.view", html=HTML, js="main.js")  # which brings the style sheet
