"""The scale: variances and slopes in closed form, costs by counting, and half precision."""

import math

import pytest
import torch

from models.attention import Additive
from models.lessons.scaling import (
    HIDDEN,
    additive_costs,
    dot_costs,
    drawn,
    halves,
    others,
    slopes,
    softened,
    walks,
)


def test_softmax_with_temperature_in_closed_form() -> None:
    scores = [2.0, -1.0, 0.5]
    exps = [math.exp(score / 0.7) for score in scores]
    found = softened(torch.tensor(scores), 0.7).tolist()
    assert found == pytest.approx([each / sum(exps) for each in exps])


def test_slopes_are_the_softmax_s_own_derivative() -> None:
    scores = torch.tensor([2.0, -1.0, 0.5], requires_grad=True)
    jacobian = torch.autograd.functional.jacobian(softened, scores)
    assert isinstance(jacobian, torch.Tensor)
    assert slopes(softened(scores)).allclose(jacobian.diagonal())


def test_other_scores_against_plain_loops() -> None:
    """Each pair on its own; the weights are drawn again from the same seed."""
    q, k = (x[:3] for x in drawn(5, seed=4))
    found = others(q, k, seed=7)
    torch.manual_seed(7)
    of_q, of_k = torch.randn(2, HIDDEN, 5) / math.sqrt(10)
    v, between = torch.randn(HIDDEN) / math.sqrt(HIDDEN), torch.randn(5, 5) / math.sqrt(5)
    for i in range(3):
        for j in range(k.shape[1]):
            query, key = q[i, 0], k[i, j]
            bilinear = sum(query[a] * between[a, b] * key[b] for a in range(5) for b in range(5))
            additive = (v * torch.tanh(of_q @ query + of_k @ key)).sum()
            assert found["bilinear"][i, j].item() == pytest.approx(float(bilinear), abs=1e-5)
            assert found["additive"][i, j].item() == pytest.approx(float(additive), abs=1e-5)


def test_bilinear_scores_spread_with_the_width_and_additive_ones_do_not() -> None:
    deviations = {
        width: {
            name: each.std().item() for name, each in others(*drawn(width, seed=1), seed=0).items()
        }
        for width in (16, 256)
    }
    assert deviations[256]["bilinear"] == pytest.approx(16, rel=0.1)
    assert deviations[16]["bilinear"] == pytest.approx(4, rel=0.25)
    assert deviations[256]["additive"] < 1.2 * deviations[16]["additive"] < 1.2


def test_costs_are_what_the_scores_hold() -> None:
    """The hidden layer that `Additive` makes is query × key × hidden."""
    tokens, width, hidden = 5, 7, 11
    q = torch.zeros(1, 1, tokens, width)
    score = Additive(torch.zeros(hidden, width), torch.zeros(hidden, width), torch.zeros(hidden))
    assert score.scores(q, q, [0]).numel() * hidden == additive_costs(5, 7, 11).numbers
    assert additive_costs(5, 7, 11).products == 5 * 7 * 11 * 2 + 25 * 11
    assert dot_costs(5, 7).products == 175
    assert dot_costs(5, 7).numbers == 25


def test_the_fourth_root_twice_in_half_precision() -> None:
    small = halves(torch.full((64,), 2.0), torch.full((64,), 3.0))
    assert (small.product, small.late, small.exact) == (384, 48, 48)
    assert small.early == pytest.approx(48, rel=2e-3)  # half precision: 11 bits
    large = halves(torch.full((64,), 32.0), torch.full((64,), 32.0))
    assert math.isinf(large.product)
    assert math.isinf(large.late)
    assert large.early == pytest.approx(8192, rel=2e-3)
    assert large.exact == 8192


def test_walks_end_at_the_dot_products_and_their_variance_is_the_width() -> None:
    found = walks(97, seed=3)
    assert found.shape == (500, 8, 97)
    steps = found.diff(dim=-1)
    assert torch.allclose(found[..., 0] + steps.sum(-1), found[..., -1], atol=1e-4)
    for width in (1, 11, 97):
        assert found[..., width - 1].var().item() == pytest.approx(width, rel=0.12)
