"""The charts of a page as one file: a figure for print in light colours, or their numbers.

The same charts give the same bytes.
"""

import csv
import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html import unescape
from typing import Any

import numpy as np
import plotly.graph_objects as go

from viz import __version__
from viz.drawing.charts import charts
from viz.drawing.parts import Caption
from viz.drawing.pdf import pdf
from viz.drawing.png import png
from viz.drawing.svg import svg
from viz.export.request import SOFTWARE

Figures = Sequence[go.Figure]


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


def chart_file(figures: Figures, suffix: str, title: str, lines: Sequence[str] = ()) -> bytes:
    """The contents of a file.

    Args:
        figures: of Plotly, as they stand on the page.
        suffix: one of `SUFFIXES`.
        title: of the whole figure.
        lines: below it: settings, input, what it does not show.

    Raises:
        ValueError: for charts of other kinds than `viz.drawing.charts` draws.
    """
    return WRITERS[suffix](figures, Caption(title, (*lines, SOFTWARE), SOFTWARE))


def series_of(figures: Figures) -> Iterator[Series]:
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


def _drawn(write: Callable[..., bytes]) -> Callable[[Figures, Caption], bytes]:
    return lambda figures, caption: write(charts(figures, caption))


def _csv(figures: Figures, caption: Caption) -> bytes:
    """A line for each cell or point; the second axis of points is empty."""
    file = io.StringIO()
    rows = csv.writer(file, lineterminator="\n")
    rows.writerow(("chart", "series", "axis_1", "place_1", "axis_2", "place_2", "unit", "value"))
    for series in series_of(figures):
        for index, value in np.ndenumerate(series.values):
            named: list[Any] = []
            for axis, places, place in zip(series.axes, series.places, index, strict=True):
                named += [axis, f"{places[place]:.9g}"]
            named += [""] * (4 - len(named))
            rows.writerow((series.chart, series.name, *named, series.unit, f"{value:.9g}"))
    return file.getvalue().encode("utf-8", "replace")


def _npz(figures: Figures, caption: Caption) -> bytes:
    arrays: dict[str, Any] = {"title": caption.title, "version": __version__}
    for number, series in enumerate(series_of(figures)):
        arrays[f"values_{number}"] = series.values
        arrays[f"name_{number}"] = np.array((series.chart, series.name, series.unit))
        arrays[f"axes_{number}"] = np.array(series.axes)
        for axis, places in enumerate(series.places, 1):
            arrays[f"places_{number}_{axis}"] = places
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)
    return file.getvalue()


WRITERS: dict[str, Callable[[Figures, Caption], bytes]] = {
    ".svg": _drawn(svg),
    ".pdf": _drawn(pdf),
    ".png": _drawn(png),
    ".csv": _csv,
    ".npz": _npz,
}
SUFFIXES = (*WRITERS,)
