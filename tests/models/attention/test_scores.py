"""The scoring functions: numbers by hand, and what makes one of them another."""

import math

import pytest
import torch

from models.attention import Additive, Bilinear, Dot, attend
from models.attention.scores import softmax
from tests.models.tensors import noise

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


@pytest.mark.parametrize("key_dim", [7, 3])
def test_a_matrix_translates_between_widths(key_dim: int) -> None:
    """qᵀMk is the dot product with Mk, and the identity is the dot product itself."""
    q, k, v = noise(2, 3, 5, 7), noise(2, 3, 11, key_dim, seed=4), noise(2, 3, 11, 13, seed=5)
    matrix = noise(7, key_dim, seed=6)
    _, pattern = attend(q, k, v, score=Bilinear(matrix))
    _, translated = attend(q, k @ matrix.T, v, score=Dot(scale=1.0))
    # Scores up to 30 in float32
    assert (pattern.scores() - translated.scores()).abs().max() < 1e-5
    if key_dim == 7:
        _, same = attend(q, k, v, score=Bilinear(torch.eye(7)))
        plain = attend(q, k, v, score=Dot(scale=1.0))[1]
        assert (same.scores() - plain.scores()).abs().max() < 1e-5


def test_scaling_keeps_the_variance() -> None:
    """A sum of `dim` products of independent numbers has variance `dim`; scaled, 1."""
    for dim in (7, 31, 257):
        q, k = noise(1, 1, 401, dim), noise(1, 1, 401, dim, seed=4)
        raw = attend(q, k, k, score=Dot(scale=1.0))[1].scores().var()
        scaled = attend(q, k, k)[1].scores().var()
        # 401 × 401 products of 401 + 401 vectors: their lengths vary by √(2/dim) each
        assert abs(float(raw) / dim - 1) < 0.2
        assert float(scaled) == pytest.approx(float(raw) / dim, rel=1e-4)


def test_the_vector_of_a_head() -> None:
    """One for all heads, or one each; scores of a head are made with its own."""
    q, k, vectors = noise(1, 3, 5, 7), noise(1, 3, 11, 7, seed=4), noise(3, 7, seed=5)
    units = torch.tanh(q[:, :, :, None] + k[:, :, None])
    for vector in (vectors, vectors[0]):
        score = Additive(None, None, vector)
        assert score.width == 7
        _, pattern = attend(q, k, k, score=score)
        for head in range(3):
            own = vector if vector.ndim == 1 else vector[head]
            assert score.vector_of(head).equal(own)
            expected = (units[0, head] * own).sum(-1)
            assert (pattern.scores(head, item=0) - expected).abs().max() < 1e-5


def test_a_row_without_a_key_is_zero_by_default() -> None:
    scores = noise(1, 2, 3, 5)
    expected = torch.softmax(scores, -1)
    scores[0, 1, 2] = -torch.inf
    expected[0, 1, 2] = 0.0
    assert softmax(scores=scores).equal(expected)
