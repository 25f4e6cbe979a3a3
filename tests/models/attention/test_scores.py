"""The scoring functions: numbers by hand, and what makes one of them another."""

import math

import pytest
import torch

from models.attention import Additive, Bilinear, Dot, attend

Q = torch.tensor([[[[1.0, 2.0]]]])
K = torch.tensor([[[[3.0, -1.0], [0.5, 4.0]]]])
WIDE = torch.tensor([[[[1.0, 0.0, 2.0], [0.0, 1.0, -1.0]]]])
M = torch.tensor([[1.0, 2.0, 3.0], [0.0, -1.0, 1.0]])
ADDITIVE = Additive(
    query=torch.tensor([[0.5, 0.0], [0.0, 0.25], [1.0, -1.0]]),
    key=torch.tensor([[0.0, 1.0], [1.0, 0.0], [0.5, 0.5]]),
    vector=torch.tensor([2.0, -1.0, 0.5]),
)


def hidden(k: tuple[float, float]) -> float:
    """wᵀ tanh(W_q q + W_k k) for q = (1, 2), written out."""
    return (
        2 * math.tanh(0.5 + k[1])
        - math.tanh(0.5 + k[0])
        + 0.5 * math.tanh(-1 + 0.5 * k[0] + 0.5 * k[1])
    )


# q·k is 1·3 − 2·1 = 1 and 1·0.5 + 2·4 = 8.5; qᵀM is (1, 0, 5), its dot products 11 and −5
BY_HAND = {
    "dot": (Dot(scale=1.0), K, [1.0, 8.5]),
    "scaled dot": (Dot(), K, [1 / math.sqrt(2), 8.5 / math.sqrt(2)]),
    "bilinear": (Bilinear(M), WIDE, [11.0, -5.0]),
    "additive": (ADDITIVE, K, [hidden((3.0, -1.0)), hidden((0.5, 4.0))]),
}


@pytest.mark.parametrize("name", BY_HAND)
def test_by_hand(name: str) -> None:
    score, k, expected = BY_HAND[name]
    values, pattern = attend(Q, k, torch.tensor([[[[7.0], [11.0]]]]), score=score)
    assert pattern.scores(0, item=0)[0].tolist() == pytest.approx(expected, abs=1e-6)
    first = 1 / (1 + math.exp(expected[1] - expected[0]))
    assert pattern.weights(0, item=0)[0].tolist() == pytest.approx([first, 1 - first], abs=1e-6)
    assert float(values) == pytest.approx(7 * first + 11 * (1 - first), abs=1e-5)
