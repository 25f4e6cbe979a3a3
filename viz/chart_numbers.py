"""The numbers of a page's charts as one table; the pictures are saved by the charts themselves."""

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import unescape
from typing import Any

import numpy as np
import plotly.graph_objects as go

COLUMNS = ("chart", "series", "axis_1", "place_1", "axis_2", "place_2", "unit", "value")


@dataclass(frozen=True, eq=False)
class Series:
    """The numbers of one trace of a chart.

    Attributes:
        chart: title of the chart.
        name: of the trace, or of its part of the chart.
        unit: what the values are.
        axes: names of the axes of the values.
        places: numbers along each axis.
        values: one axis of points, or "row column" of cells.
    """

    chart: str
    name: str
    unit: str
    axes: tuple[str, ...]
    places: tuple[np.ndarray, ...]
    values: np.ndarray


def chart_csv(figures: Sequence[go.Figure]) -> bytes:
    """A line for each cell or point of Plotly figures; the second axis of points is empty."""
    file = io.StringIO()
    rows = csv.writer(file, lineterminator="\n")
    rows.writerow(COLUMNS)
    for series in series_of(figures):
        for index, value in np.ndenumerate(series.values):
            named: list[Any] = []
            for axis, places, place in zip(series.axes, series.places, index, strict=True):
                named += [axis, f"{places[place]:.9g}"]
            named += [""] * (4 - len(named))
            rows.writerow((series.chart, series.name, *named, series.unit, f"{value:.9g}"))
    return file.getvalue().encode("utf-8", "replace")


def series_of(figures: Sequence[go.Figure]) -> Iterator[Series]:
    """The numbers of charts, trace by trace; outlines and pictures are left out."""
    for figure in figures:
        layout: Any = figure.layout
        traces: Any = figure.data
        title = unescape(layout.title.text or "")
        parts = [unescape(note.text) for note in layout.annotations if note.xref == "paper"]
        for number, trace in enumerate(traces):
            x = unescape(layout[f"xaxis{(trace.xaxis or 'x')[1:]}"].title.text or "x")
            y = unescape(layout[f"yaxis{(trace.yaxis or 'y')[1:]}"].title.text or "y")
            name = unescape(trace.name or "")
            if trace.type == "heatmap":
                values = np.asarray(trace.z, float)
                unit = unescape(layout.coloraxis.colorbar.title.text or "value")
                rows = (trace.y0 or 0) + (trace.dy or 1) * np.arange(values.shape[0])
                columns = (trace.x0 or 0) + (trace.dx or 1) * np.arange(values.shape[1])
                part = parts[number] if number < len(parts) else name
                yield Series(title, part, unit, (y, x), (rows, columns), values)
            elif trace.type == "bar":
                yield Series(title, name, x, (y,), (np.asarray(trace.y),), np.asarray(trace.x))
            elif trace.type == "scatter" and (name or trace.hoverinfo != "skip"):
                yield Series(title, name, y, (x,), (np.asarray(trace.x),), np.asarray(trace.y))
