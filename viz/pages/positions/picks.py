"""Clicks on the charts of the Positions page: a cell sets the sliders of its row and column."""

from collections.abc import Callable, Mapping
from functools import partial

from viz.pages.positions.controls import PAGE, PARAMS
from viz.pages.state import session
from viz.pages.widgets import charts

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


def picking(view: str, chart: str) -> Callable[[], None] | None:
    """What a click on a chart of this view does; None if nothing."""
    axes = PICKS.get(view, {}).get(chart)
    return session.callback(partial(_take, chart, axes)) if axes else None


def _take(chart: str, axes: Mapping[str, str]) -> None:
    """Called after a click: sets the sliders of the chart's axes."""
    session.fold(PAGE)
    values = chosen(axes, charts.cell(PAGE, chart))
    if values:
        session.assign(PAGE, values)


def chosen(axes: Mapping[str, str], cell: tuple[int | None, int | None]) -> dict[str, int]:
    """The settings that a click stands for; none where it is beyond their range.

    Args:
        axes: the setting of each axis.
        cell: column and row of the click.
    """
    params = {param.name: param for param in PARAMS}
    values = {}
    for axis, name in axes.items():
        try:
            values[name] = params[name].parse(str(cell["xy".index(axis)]))
        except ValueError:
            continue
    return values
