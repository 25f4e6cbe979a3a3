"""The coverage benchmark: that a wrong map, output or silence is told from a right one."""

from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from benchmarks.coverage import __main__ as command
from benchmarks.coverage import judging, tiny
from benchmarks.coverage.__main__ import Row, tried
from benchmarks.coverage.judging import AIM, MismatchError, watched
from models.run import trace


def only(name: str) -> Row:
    """The row of a type's network without a head."""
    return next(tried(name))


def test_a_type_that_is_traced() -> None:
    row = only("bert")
    assert (row.head, row.result, row.reason) == ("base", "traced", "")
    assert 0 < row.weights < AIM
    assert row.output < 10 * AIM


def test_a_type_without_weights_to_show() -> None:
    row = only("bloom")
    assert row.result == "refused"
    assert "BloomAttention computes its weights itself" in row.reason


def test_another_map_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def swapped(model: Any, inputs: Any) -> Any:
        found = trace(model, inputs)
        order = [1, 0, 2, 3]
        patterns = tuple(replace(p, q=p.q[:, order], k=p.k[:, order]) for p in found.patterns)
        return replace(found, patterns=patterns)

    monkeypatch.setattr(command, "trace", swapped)
    row = only("bert")
    assert (row.result, row.reason) == ("wrong", "weights or output differ")
    assert row.weights > AIM


class OwnAttention(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return torch.softmax(x @ x.mT, -1) @ x


def test_attention_that_is_neither_shown_nor_named_is_noticed() -> None:
    inputs = {"input_ids": torch.tensor([[5, 6, 7]])}
    model = tiny.build("bert")
    reference: Any = tiny.eager_copy(model)
    found = trace(model, inputs)
    assert judging.weights_apart(found, watched(reference, inputs)) < AIM
    reference.embeddings.dropout = OwnAttention()
    with pytest.raises(MismatchError, match="softmax of OwnAttention is neither shown nor named"):
        judging.weights_apart(found, watched(reference, inputs))


def test_columns_that_hold_weight_must_be_shown() -> None:
    theirs = torch.full((2, 5, 5), 0.2)
    some, every = torch.arange(3), torch.arange(5)
    assert judging.map_apart(theirs, theirs, (every, every)) == 0.0
    with pytest.raises(MismatchError, match=r"columns that hold up to 4\.0e-01"):
        judging.map_apart(theirs[:, :3, :3], theirs, (some, some))
    with pytest.raises(MismatchError, match="are shown"):
        judging.map_apart(theirs[:, :4, :4], theirs, (some, some))
    theirs[..., 3:], theirs[..., :3] = 0.0, 1 / 3
    assert judging.map_apart(theirs[:, :3, :3], theirs, (some, some)) == 0.0
    mixed = theirs[:, [1, 0, 2, 3, 4]] * torch.tensor([1.2, 0.8, 1.0, 1.0, 1.0])
    assert judging.map_apart(mixed, theirs, (every, every)) > AIM
