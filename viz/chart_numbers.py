"""The numbers of a page's charts as one table; the pictures are saved by the charts themselves."""

import csv
import io
from collections.abc import Sequence
from html import unescape
from typing import Any

import plotly.graph_objects as go

COLUMNS = ("chart", "series", "axis", "place", "unit", "value")


def chart_csv(figures: Sequence[go.Figure]) -> bytes:
    """A line for each point of Plotly figures."""
    file = io.StringIO()
    rows = csv.writer(file, lineterminator="\n")
    rows.writerow(COLUMNS)
    for figure in figures:
        layout: Any = figure.layout
        traces: Any = figure.data
        title, x, y = (
            unescape(part.title.text or "") for part in (layout, layout.xaxis, layout.yaxis)
        )
        for trace in traces:
            name = unescape(trace.name or "")
            for place, value in zip(trace.x, trace.y, strict=True):
                rows.writerow((title, name, x, f"{place:.9g}", y, f"{value:.9g}"))
    return file.getvalue().encode("utf-8", "replace")
