"""Rounds, percentiles and tables, by hand."""

import json

import pytest

from benchmarks.measure import (
    Spread,
    as_json,
    interleaved,
    percentile,
    ratios,
    rotations,
)


def test_percentiles_lie_on_a_straight_line_between_neighbours() -> None:
    values = [5.0, 1.0, 3.0, 2.0, 4.0]
    assert percentile(values, 0.0) == 1.0
    assert percentile(values, 0.5) == 3.0
    assert percentile(values, 0.9) == pytest.approx(4.6)
    assert percentile([7.0], 0.95) == 7.0


def test_a_spread_holds_median_and_percentiles() -> None:
    spread = Spread.of([float(value) for value in range(1, 12)])
    assert (spread.median, spread.p10, spread.p90, spread.count) == (6.0, 2.0, 10.0, 11)
    assert spread.p95 == pytest.approx(10.5)
    assert spread.text(1) == "6.0 (2.0–10.0)"


def test_a_spread_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="received none"):
        Spread.of([])


def test_every_case_comes_in_every_place() -> None:
    orders = list(rotations(["a", "b", "c"], 3))
    assert orders == [("a", "b", "c"), ("b", "c", "a"), ("c", "a", "b")]


def test_interleaved_warms_up_once_and_times_each_case_in_turn() -> None:
    calls: list[str] = []
    now = iter(range(1000))
    cases = {name: (lambda name=name: calls.append(name)) for name in ("a", "b")}
    seconds = interleaved(cases, 3, clock=lambda: float(next(now)))
    assert calls == ["a", "b", "a", "b", "b", "a", "a", "b"]
    assert seconds == {"a": [1.0, 1.0, 1.0], "b": [1.0, 1.0, 1.0]}


def test_ratios_are_taken_pair_by_pair() -> None:
    assert ratios([2.0, 9.0], [1.0, 3.0]) == [2.0, 3.0]
    with pytest.raises(ValueError, match="zip"):
        ratios([1.0], [1.0, 2.0])


def test_spreads_become_json_objects() -> None:
    read = json.loads(as_json({"ms": Spread.of([2.0, 2.0])}))
    assert read["ms"] == {"median": 2.0, "p10": 2.0, "p90": 2.0, "p95": 2.0, "count": 2}
    with pytest.raises(TypeError, match="received set"):
        as_json({"ms": {1}})
