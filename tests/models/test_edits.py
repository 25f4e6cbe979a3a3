"""Several edits at once, their order, and one of one's own, against an encoder written out.

What each edit does by itself is in tests/test_edits_everywhere.py, for every network.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest
import torch
from torch import Tensor

from models.attention import Dot, attend
from models.edits import Ablate, Cut, Temperature, at
from models.encoder import Encoder, EncoderConfig
from models.run import trace
from models.trace import Trace
from models.where import Where
from tests.models.reference import Written, plain_encoder

HEADS, DEPTH, TOKENS = 5, 3, 11
ROUNDING = 5e-6  # hidden states of size 4 after three layers of float32


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


@pytest.fixture(scope="module")
def network() -> Encoder:
    config = EncoderConfig(vocab=101, dim=35, depth=DEPTH, heads=HEADS, mlp=53, seed=3)
    return Encoder(config).eval().requires_grad_(False)


@pytest.fixture(scope="module")
def ids() -> Tensor:
    return torch.randint(101, (1, TOKENS), generator=torch.Generator().manual_seed(5))


def only(layer: int | None, change: Any) -> Any:
    """The change at one layer of the written-out encoder; None means at all."""
    return lambda here, x: change(x.clone()) if layer in (None, here) else x


def agree(found: Trace, expected: Written) -> None:
    for layer in range(DEPTH):
        # Weights are at most 1; what reaches them has the rounding of hidden states
        assert (found.weights(layer) - expected.weights[layer][0]).abs().max() < ROUNDING
    assert (found.output.values - expected.hidden).abs().max() < ROUNDING


def test_temperatures_multiply(network: Encoder, ids: Tensor) -> None:
    twice = trace(network, ids, edits=[Temperature(0.5, 1), Temperature(0.4, 1, 2)])

    def change(scores: Tensor) -> Tensor:
        scores /= 0.5
        scores[:, 2] /= 0.4
        return scores

    agree(twice, plain_encoder(network, ids, scores=only(1, change)))


def test_a_weights_edit_of_ones_own(network: Encoder, ids: Tensor) -> None:
    def change(weights: Tensor) -> Tensor:
        weights[:, 3, 6] = torch.eye(TOKENS)[2]
        return weights

    found = trace(network, ids, edits=[SetRow(Where(1), 3, 6, 2)])
    agree(found, plain_encoder(network, ids, weights=only(1, change)))
    assert found.pattern(1).path == "explicit"
    assert found.pattern(2).path == "fused"
    row = found.weights(1, 3, rows=[6])
    assert row.equal(torch.eye(TOKENS)[2:3])


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_weights_edits_apply_in_order(network: Encoder, ids: Tensor, order: tuple) -> None:
    edits = [SetRow(Where(1), 3, 6, 2), Scaled(0.5)]
    found = trace(network, ids, edits=[edits[i] for i in order])
    assert float(found.weights(1, 3)[6, 2]) == (0.5 if order == (0, 1) else 1.0)
    # Rows sum to 1 but for float32's rounding
    assert torch.allclose(found.weights(0).sum(-1), torch.tensor(0.5), rtol=0, atol=1e-6)


def test_three_kinds_of_edit_at_once(network: Encoder, ids: Tensor) -> None:
    """Recipe, then weights, then values, whatever order they are given in."""

    def sharpen(scores: Tensor) -> Tensor:
        scores[:, 4] /= 0.5
        scores[:, :, :, 8] = -torch.inf
        return scores

    def silence(values: Tensor) -> Tensor:
        values[:, 0] = 0
        return values

    edits = [Ablate(1, 0), Scaled(0.7), Cut(1, None, None, 8), Temperature(0.5, 1, 4)]
    expected = plain_encoder(
        network,
        ids,
        scores=only(1, sharpen),
        weights=lambda layer, x: x * 0.7,
        values=only(1, silence),
    )
    agree(trace(network, ids, edits=edits), expected)
    agree(trace(network, ids, edits=edits[::-1]), expected)


def test_at_chooses_by_layer_and_kind() -> None:
    first, cross, everywhere = Ablate(0, 1), Ablate(None, 2, kind="cross"), Scaled(2.0)
    edits = [first, cross, everywhere]
    assert at(edits, Where(0, "self")) == (first, everywhere)
    assert at(edits, Where(1, "self")) == (everywhere,)
    assert at(edits, Where(0, "cross")) == (first, cross, everywhere)


def test_temperature_divides_a_sink_too() -> None:
    """One temperature for everything in the softmax: scores and sink over T."""
    dice = torch.Generator().manual_seed(3)
    q, k, v = (torch.randn(1, 2, 5, 3, generator=dice) for _ in range(3))
    sink = torch.tensor([0.7, -1.1])
    _, pattern = attend(q, k, v, score=Dot(sink=sink), edit=Temperature(0.4))
    logits = torch.cat([q @ k.mT / 3**0.5, sink[:, None, None].expand(1, 2, 5, 1)], -1) / 0.4
    expected = logits.softmax(-1)[..., :-1]
    torch.testing.assert_close(pattern.weights(), expected, rtol=0, atol=1e-6)  # float32 sums
