"""Percentiles by hand."""

import pytest

from benchmarks.measure import Spread, percentile


def test_percentiles_lie_on_a_straight_line_between_neighbours() -> None:
    values = [5.0, 1.0, 3.0, 2.0, 4.0]
    assert percentile(values, 0.0) == 1.0
    assert percentile(values, 0.9) == pytest.approx(4.6)


def test_a_spread_holds_median_and_percentiles() -> None:
    spread = Spread.of([float(value) for value in range(1, 12)])
    assert (spread.median, spread.p10, spread.p90, spread.count) == (6.0, 2.0, 10.0, 11)
    assert spread.p95 == pytest.approx(10.5)
    assert spread.text(1) == "6.0 (2.0–10.0)"
