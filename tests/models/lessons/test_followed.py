"""Attention followed number by number: every step against the closed form."""

import pytest
import torch

from models.attention import Additive, Dot, Mask, attend
from models.lessons.followed import follow, follow_smallest, terms
from models.simple import Smallest, SmallestConfig, worked_example
from tests.models.tensors import noise

Q, K, V = (noise(2, 3, 5, 7, seed=seed) for seed in (1, 2, 3))


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("scale", [None, 1.0])
def test_every_step(causal: bool, scale: float | None) -> None:
    values, pattern = attend(Q, K, V, mask=Mask(causal=causal), score=Dot(scale=scale))
    found = follow(pattern, head=2)
    products = Q[0, 2] @ K[0, 2].T
    scores = products * (7**-0.5 if scale is None else scale)
    hidden = torch.triu(torch.ones(5, 5, dtype=torch.bool), 1) & causal
    # float32 sums of 7 products below 9, in another order
    assert (found.products - products).abs().max() < 1e-5
    assert (found.scores - scores).abs().max() < 1e-5
    assert found.masked.isneginf().equal(hidden)
    expected = found.masked.exp()
    assert found.exponentials.equal(expected)
    assert not found.shifts.any()
    assert found.sums.allclose(expected.sum(1))
    assert (found.weights - expected / expected.sum(1, keepdim=True)).abs().max() < 1e-6
    assert (found.values - values[0, 2]).abs().max() < 1e-5


@pytest.mark.parametrize("factor", [1e2, -1e2])
def test_rows_whose_exponentials_cannot_be_read_are_shifted(factor: float) -> None:
    ones = torch.ones(1, 1, 5, 7)
    ramp = factor * torch.arange(1, 6)[:, None].expand(1, 1, 5, 7)
    _, pattern = attend(ones, ramp, V[:1, :1], mask=Mask(causal=True), score=Dot(scale=1.0))
    found = follow(pattern)
    assert found.exponentials.isfinite().all()
    assert found.shifts.equal(
        found.masked.amax(1)
    )  # from ±700 to ±3500: no float32 holds their exp
    assert (found.weights - found.exponentials / found.sums[:, None]).abs().max() < 1e-6


def test_a_row_that_sees_no_key_has_nothing_to_subtract() -> None:
    hidden = torch.ones(2, 5, dtype=torch.bool)
    _, pattern = attend(Q, K, V, mask=Mask(padding=hidden))
    found = follow(pattern)
    assert not found.shifts.any()
    assert not found.sums.any()


def test_grouped_queries_take_their_own_values() -> None:
    q = noise(2, 6, 5, 7, seed=4)
    values, pattern = attend(q, K, V)
    for head in range(6):
        assert (follow(pattern, head=head).values - values[0, head]).abs().max() < 1e-5


def test_other_scores_are_refused() -> None:
    score = Additive(noise(11, 7, seed=5), noise(11, 7, seed=6), noise(11, seed=7))
    _, pattern = attend(Q, K, V, score=score)
    with pytest.raises(ValueError, match="expected plain dot products"):
        follow(pattern)


def test_terms_sum_to_the_dot_product() -> None:
    products, total = terms(Q[0, 0, 0], K[0, 0, 0])
    pairs = zip(Q[0, 0, 0].tolist(), K[0, 0, 0].tolist(), strict=True)
    assert products.tolist() == pytest.approx([a * b for a, b in pairs], rel=1e-5)
    assert float(total) == pytest.approx(float(products.sum()), abs=1e-6)


def test_the_smallest_transformer() -> None:
    example = worked_example()
    steps = follow_smallest(example.transformer, example.words)
    assert steps.predictions.flatten().tolist() == pytest.approx([1.0185, 0.0264], abs=5e-5)
    network, x = Smallest(SmallestConfig(dim=7, seed=3)), noise(1, 5, 7, seed=8)
    steps = follow_smallest(network, x)
    attended, _ = network.attention(x)
    assert (steps.attended - attended[0]).abs().max() < 1e-6
    assert (network.norm(steps.added) - steps.normed).abs().max() < 1e-5
    assert network.out(steps.normed).allclose(steps.predictions)
