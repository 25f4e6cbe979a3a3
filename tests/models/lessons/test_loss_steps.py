"""The head layer number by number, against torch and closed forms."""

import math

import pytest
import torch
import torch.nn.functional as F

from models.lessons.loss_steps import loss_steps, project

LOGITS = torch.tensor([2.0, 1.0, 0.1, -1.5, 0.7])
ROUNDING = 1e-6  # float32 numbers below 10


def test_projection_is_a_dot_product_a_class() -> None:
    hidden, weights = torch.tensor([1.0, -2.0, 3.0]), torch.randn(5, 3)
    assert (project(hidden, weights) - weights @ hidden).abs().max() < ROUNDING


@pytest.mark.parametrize("smoothing", [0.0, 0.3])
@pytest.mark.parametrize("target", range(5))
def test_every_number_equals_torch(target: int, smoothing: float) -> None:
    found = loss_steps(LOGITS, target, smoothing=smoothing)
    given = LOGITS.clone().requires_grad_()
    wanted = torch.tensor([target])
    loss = F.cross_entropy(given[None], wanted, label_smoothing=smoothing)
    (gradient,) = torch.autograd.grad(loss, given)
    assert abs(float(found.loss - loss.detach())) < ROUNDING
    assert (found.gradient - gradient).abs().max() < ROUNDING
    assert (found.probabilities - torch.softmax(LOGITS, 0)).abs().max() < ROUNDING
    assert (found.exponentials / found.total - found.probabilities).abs().max() < ROUNDING
    assert found.rank == found.order.tolist().index(target) + 1


def test_even_logits_cost_the_logarithm_of_their_number() -> None:
    assert float(loss_steps(torch.zeros(7), 3).loss) == pytest.approx(math.log(7))


def test_the_gradient_is_what_was_too_likely() -> None:
    found = loss_steps(LOGITS, 2)
    expected = found.probabilities - torch.tensor([0.0, 0, 1, 0, 0])
    assert (found.gradient - expected).abs().max() < ROUNDING


def test_a_target_that_is_no_class_is_refused() -> None:
    with pytest.raises(ValueError, match="target: expected 0 to 4, received 5"):
        loss_steps(LOGITS, 5)
