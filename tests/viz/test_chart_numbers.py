"""The numbers of Plotly charts as a table: every point, at its place."""

import csv
import io

import numpy as np

from viz.chart_numbers import chart_csv
from viz.figures import curves


def test_numbers_are_those_of_the_charts() -> None:
    named = {"first": np.array([0.0, 1, 4, 9]), "second": np.array([9.0, 4, 1, 0])}
    charts = [curves(np.arange(4), named, title="<b> & “lines”", x="distance", y="product")]
    rows = [*csv.DictReader(io.StringIO(chart_csv(charts).decode()))]
    assert len(rows) == 8
    assert rows[0]["chart"] == "<b> & “lines”"
    assert (rows[3]["axis"], rows[3]["place"], rows[3]["unit"]) == ("distance", "3", "product")
    assert [row["value"] for row in rows if row["series"] == "second"] == ["9", "4", "1", "0"]
