"""Several edits at once, their order, and one of one's own, against a network with them built in.

What each edit does by itself is in tests/test_edits_everywhere.py, for every network.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest
import torch
from torch import Tensor

from models.edits import Ablate, Cut, Temperature, as_edits
from models.run import trace
from models.trace import Trace
from models.where import Where
from tests.models.edits.plain import TOKENS
from tests.models.tiny_models import LAYER, Built, Change, Pass, model, near, source

GIVEN = source("encoder")


@dataclass(frozen=True)
class SetRow:
    """An edit of weights, as a page or a notebook may bring its own."""

    where: Where
    head: int
    row: int
    key: int

    def edit_weights(
        self, weights: Tensor, heads: Sequence[int], rows: Tensor, pattern: Any, item: int
    ) -> Tensor:
        edited = weights.clone()
        here = rows == self.row
        for index, head in enumerate(heads):
            if head == self.head:
                edited[index, here] = 0.0
                edited[index, here, self.key] = 1.0
        return edited


@dataclass(frozen=True)
class Scaled:
    """Multiplies every weight of all layers: it has no address."""

    factor: float

    def edit_weights(self, weights: Tensor, *given: Any) -> Tensor:
        return weights * self.factor


def traced(*edits: Any) -> Trace:
    return trace(model("encoder"), *GIVEN, edits=edits)


@torch.no_grad()
def built(changes: dict[str, Change], **more: Any) -> Pass:
    """A pass with these changes in one layer, and more in all of them."""
    return Built("encoder", LAYER, changes).run(GIVEN, **more)


def agree(found: Trace, expected: Pass) -> None:
    for site, weights in zip(found.sites, expected.weights, strict=True):
        assert near(found.weights(site), weights[0])
    assert near(found.output.values, expected.output)


def test_temperatures_multiply() -> None:
    def change(scores: Tensor) -> Tensor:
        scores /= 0.5
        scores[:, 2] /= 0.4
        return scores

    twice = traced(Temperature(0.5, LAYER), Temperature(0.4, LAYER, 2))
    agree(twice, built({"scores": change}))


def test_a_weights_edit_of_ones_own() -> None:
    def change(weights: Tensor) -> Tensor:
        weights[:, 1, 6] = torch.eye(TOKENS)[2]
        return weights

    found = traced(SetRow(Where(LAYER), 1, 6, 2))
    agree(found, built({"weights": change}))
    assert (found.pattern(1).path, found.pattern(2).path) == ("explicit", "fused")
    assert found.weights(1, 1, rows=[6]).equal(torch.eye(TOKENS)[2:3])


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_weights_edits_apply_in_order(order: tuple[int, int]) -> None:
    edits = [SetRow(Where(LAYER), 1, 6, 2), Scaled(0.5)]
    found = traced(*(edits[i] for i in order))
    assert float(found.weights(1, 1)[6, 2]) == (0.5 if order == (0, 1) else 1.0)
    # Rows sum to 1 but for float32's rounding
    assert torch.allclose(found.weights(0).sum(-1), torch.tensor(0.5), rtol=0, atol=1e-6)


def test_three_kinds_of_edit_at_once() -> None:
    """Recipe, then weights, then values, whatever order they are given in."""

    def sharpen(scores: Tensor) -> Tensor:
        scores[:, 1] /= 0.5
        scores[:, :, :, 4] = -torch.inf
        return scores

    def silence(values: Tensor) -> Tensor:
        values[:, 0] = 0
        return values

    edits = [Ablate(1, 0), Scaled(0.7), Cut(1, None, None, 4), Temperature(0.5, 1, 1)]
    expected = built({"scores": sharpen, "values": silence}, weights=lambda _, x: x * 0.7)
    agree(traced(*edits), expected)
    agree(traced(*edits[::-1]), expected)


def test_what_is_no_edit_is_named() -> None:
    for edits in ("Ablate(1, 2)", [None], Ablate, [Ablate(0, 1), 3]):
        with pytest.raises(ValueError, match="edits: expected edits such as"):
            as_edits(edits)
