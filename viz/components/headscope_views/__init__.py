"""The browser views as Streamlit elements: JSON props in, a few named values out."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any


def view(
    kind: str,
    props: Mapping[str, Any],
    *,
    key: str,
    on: Sequence[str] = (),
    default: Mapping[str, Any] | None = None,
    width: Any = "stretch",
) -> Mapping[str, Any]:
    callbacks = {f"on_{name}_change": lambda: None for name in on}
    return _registered()(
        data={"kind": kind, **props}, key=key, default=default, width=width, **callbacks
    )


@cache
def _registered() -> Callable[..., Any]:
    from streamlit.components.v2 import component

    return component(
        "headscope-views.view",
        html='<div class="headscope"></div>',
        css="explorer.css",
        js="streamlit/main.js",
    )
