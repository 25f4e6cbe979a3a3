"""The numbers of Plotly charts as a table: every cell and point, at its place."""

import csv
import io
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest

from viz.chart_numbers import chart_csv, series_of
from viz.figures import bars, curves, facets, heatmap

VALUES = np.linspace(-1, 1, 12).reshape(3, 4)


def charts() -> list[go.Figure]:
    axes: dict[str, Any] = {"x": "dimension", "y": "position", "bar": "value"}
    named = {"first": np.array([0.0, 1, 4, 9]), "second": np.array([9.0, 4, 1, 0])}
    return [
        heatmap(VALUES, title="<b> & “signed”", low=-1, high=1, **axes),
        curves(np.arange(4), named, title="Lines", x="distance", y="product"),
        bars(["one"], [0.25], title="Bars", x="share"),
    ]


def test_numbers_are_those_of_the_charts() -> None:
    rows = [*csv.DictReader(io.StringIO(chart_csv(charts()).decode()))]
    assert len(rows) == 12 + 8 + 1
    assert rows[0]["chart"] == "<b> & “signed”"
    cell = next(row for row in rows if (row["place_1"], row["place_2"]) == ("2", "1"))
    assert (cell["axis_1"], cell["axis_2"]) == ("position", "dimension")
    assert float(cell["value"]) == pytest.approx(VALUES[2, 1], rel=1e-8)
    assert [row["value"] for row in rows if row["series"] == "second"] == ["9", "4", "1", "0"]


def test_numbers_of_a_thinned_map_keep_their_places() -> None:
    step = facets({"a": VALUES}, title="", x="", y="", bar="", low=0, high=1, most=2)
    assert next(series_of([step])).places[1].tolist() == [0, 2]
