"""Clicks on the charts of the Positions page: a cell sets the sliders of its row and column."""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from viz.pages.positions.controls import PAGE, PARAMS
from viz.pages.state import session

KEY = f"{PAGE}_pick"
# by view and chart, the settings of the axes
PICKS: dict[str, dict[str, dict[str, str]]] = {
    "table": {
        "table": {"x": "dim", "y": "position"},
        "wave": {"x": "position"},
        "code": {"x": "dim"},
    },
    "similar": {"similar": {"y": "position"}, "similar_row": {"x": "position"}},
    "alone": {"alone": {"y": "position"}},
}


def listen(view: str) -> None:
    """Lets a click on a chart of this view set what it shows."""
    from headscope_views import view as mounted

    charts = {name: f"{PAGE}_chart_{name}_" for name in PICKS.get(view, ())}
    mounted("pick", {"charts": charts}, key=KEY, on={"picked": session.callback(_take)})


def _take() -> None:
    """Called after a click: sets the sliders of its axes."""
    session.fold(PAGE)
    state = st.session_state.get(KEY)
    event = state.get("picked") if isinstance(state, Mapping) else None
    found = chosen(session.get(PAGE, "view"), event)
    if found:
        session.assign(PAGE, found)


def chosen(view: str, event: Any) -> dict[str, int]:
    """The settings that a click stands for; none for a click that means nothing here.

    Args:
        view: of the page.
        event: chart, x and y of the click, as the browser sends them.
    """
    if not isinstance(event, Mapping):
        return {}
    axes = PICKS.get(view, {}).get(str(event.get("chart")), {})
    params = {param.name: param for param in PARAMS}
    found = {}
    for axis, name in axes.items():
        try:
            found[name] = params[name].parse(str(event.get(axis)))
        except ValueError:
            continue
    return found
