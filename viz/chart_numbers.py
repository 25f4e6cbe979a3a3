"""The numbers of a page's charts as one table; the pictures are saved by the charts themselves."""

import csv
import io
from collections.abc import Sequence
from html import unescape
from typing import Any

import numpy as np
import plotly.graph_objects as go

COLUMNS = ("chart", "series", "axis_1", "place_1", "axis_2", "place_2", "unit", "value")


def chart_csv(figures: Sequence[go.Figure]) -> bytes:
    """A line for each cell or point of Plotly figures; the second axis of points is empty."""
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
            if trace.type == "heatmap":
                unit = unescape(layout.coloraxis.colorbar.title.text)
                for (row, column), value in np.ndenumerate(trace.z):
                    rows.writerow((title, name, y, row, x, column, unit, f"{value:.9g}"))
            else:
                for place, value in zip(trace.x, trace.y, strict=True):
                    rows.writerow((title, name, x, f"{place:.9g}", "", "", y, f"{value:.9g}"))
    return file.getvalue().encode("utf-8", "replace")
