"""The coverage benchmark: a right map, one that is wrong, and a type that is refused."""

from dataclasses import replace
from typing import Any

import pytest

from benchmarks.coverage import __main__ as command
from benchmarks.coverage.__main__ import AIM, Row, tried
from models.verify import verify


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
    monkeypatch.setattr(command, "verify", lambda *given: replace(verify(*given), **fault))
    row = only("bert")
    assert (row.result, row.reason) == ("wrong", reason)
