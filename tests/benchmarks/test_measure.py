"""Spreads by hand, and what the aims of a benchmark do."""

from collections.abc import Iterator

import pytest

from benchmarks.measure import Aim, Spread, Table, command

NAN = float("nan")


def test_a_spread_has_median_and_percentiles_of_what_was_not_lost() -> None:
    spread = Spread([*map(float, range(1, 12)), NAN])
    assert (spread.median, spread.p95) == (6.0, pytest.approx(10.5))
    assert (str(spread), spread.latency) == ("6 (2–10)", "6/10.5, 1 LOST")


@command
def few(count: int = 3, names: tuple[str, ...] = ("a", "b")) -> Iterator[object]:
    yield Table(["name", "count"], [[name, count] for name in names])
    yield Aim("count", count, 3)


def test_a_missed_aim_fails(capsys: pytest.CaptureFixture[str]) -> None:
    assert few([]) == 0
    assert "| b    | 3     |" in capsys.readouterr().out
    assert few(["--count", "4", "--names", "c"]) == 1
    assert "aim: count ≤ 3: 4, MISSED" in capsys.readouterr().out
