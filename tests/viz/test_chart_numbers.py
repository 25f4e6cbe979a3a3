"""The numbers of Plotly charts as a table: every cell and point, at its place."""

import csv
import io

import numpy as np
import pytest

from viz.chart_numbers import chart_csv
from viz.figures import curves, heatmap

VALUES = np.linspace(-1, 1, 12).reshape(3, 4)


def test_numbers_are_those_of_the_charts() -> None:
    named = {"first": np.array([0.0, 1, 4, 9]), "second": np.array([9.0, 4, 1, 0])}
    charts = [
        heatmap(
            VALUES,
            title="<b> & “signed”",
            x="dimension",
            y="position",
            bar="value",
            low=-1,
            high=1,
        ),
        curves(np.arange(4), named, title="Lines", x="distance", y="product"),
    ]
    rows = [*csv.DictReader(io.StringIO(chart_csv(charts).decode()))]
    assert len(rows) == 12 + 8
    assert rows[0]["chart"] == "<b> & “signed”"
    cell = next(row for row in rows if (row["place_1"], row["place_2"]) == ("2", "1"))
    assert (cell["axis_1"], cell["axis_2"]) == ("position", "dimension")
    assert float(cell["value"]) == pytest.approx(VALUES[2, 1], rel=1e-8)
    assert [row["value"] for row in rows if row["series"] == "second"] == ["9", "4", "1", "0"]
