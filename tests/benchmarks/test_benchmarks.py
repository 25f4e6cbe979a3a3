"""Benchmarks: what they say of themselves, spreads by hand, missed aims, and the coverage."""

from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import benchmarks
from benchmarks.coverage import __main__ as coverage
from benchmarks.coverage.__main__ import AIM, Row, tried
from benchmarks.measure import Aim, Spread, Table, command
from models.verify import verify

FOLDER = Path(benchmarks.__file__).parent
COMMANDS = sorted(
    ".".join(path.relative_to(FOLDER.parent).with_suffix("").parts)
    for path in FOLDER.rglob("*.py")
    if "\ndef main(" in path.read_text(encoding="utf-8")
)
NAN = float("nan")


@pytest.mark.parametrize("name", COMMANDS)
def test_help(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        import_module(name).main(["--help"])
    assert ended.value.code == 0
    assert "usage:" in capsys.readouterr().out


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


def only(name: str) -> Row:
    """The row of a type's network without a head."""
    return next(tried(name))


def test_a_type_that_is_traced() -> None:
    row = only("bert")
    assert (row.head, row.result, row.reason) == ("base", "traced", "")
    assert 0 < row.weights < AIM
    assert row.output < AIM


def test_a_type_without_weights_to_show() -> None:
    row = only("levit")
    assert row.result == "refused"
    assert "LevitAttention, LevitAttentionSubsample computes its weights itself" in row.reason


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ({"maps": 0.1}, "a weight is 1.0e-01 off the library’s own"),
        ({"unseen": ("encoder.0",)}, "encoder.0 left no map, or more than one"),
        ({"compared": 0}, "no map has a counterpart"),
    ],
)
def test_a_fault_is_told(monkeypatch: pytest.MonkeyPatch, fault: Any, reason: str) -> None:
    monkeypatch.setattr(coverage, "verify", lambda *given: replace(verify(*given), **fault))
    row = only("bert")
    assert (row.result, row.reason) == ("wrong", reason)
