"""The browser views as one Streamlit component: props in, values and events out."""

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any, Literal

from viz import web

HTML = '<div class="headscope" aria-busy="true"></div>'  # until something is shown in it
NOT_ISOLATED = {"chart"}  # kinds mounted without a shadow root


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
            "mode", "chart", "story", "preload", "slider", "entry", "files", "choices",
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
    mount = _component(kind not in NOT_ISOLATED)
    # a list: in a mapping Streamlit looks for data frames, for which it imports pandas
    return mount(key=key, data=[data], width=width, **listeners)


def _nothing() -> None:
    """The callback of an event that only triggers a rerun."""


@cache
def _component(isolated: bool) -> Callable[..., Any]:
    """Registers the component once per process, with or without a shadow root.

    On first use, not at import: Streamlit finds packaged assets only while a server runs, and
    a page of its own must work without one.
    """
    from streamlit.components.v2 import component

    package = __name__.partition(".")[0].replace("_", "-")  # of which the views are a part

    js = "main.js"
    if isolated:  # main.js brings the style sheet
        return component(f"{package}.view", html=HTML, js=js)
    return component(f"{package}.chart", html=HTML, js=js, isolate_styles=False)
