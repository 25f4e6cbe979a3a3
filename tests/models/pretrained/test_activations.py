"""AttnLRP's rule for activations: f(x)/x in place of f′(x), in one thread and while it lasts."""

import pytest
import torch
from torch import Tensor, nn

from models.attnlrp import Rules
from models.pretrained.passes import activation_rules

X = torch.tensor([-2.0, -0.5, 0.0, 0.25, 3.0])


def gradient(network: nn.Module) -> Tensor:
    x = X.clone().requires_grad_()
    network(x).sum().backward()
    assert x.grad is not None
    return x.grad


def derivative() -> Tensor:
    """Of x·σ(x)."""
    s = X.sigmoid()
    return s + X * s * (1 - s)


@pytest.mark.parametrize("rules", ["attnlrp", "exact"])
def test_an_activation_is_divided_by_its_input(rules: Rules) -> None:
    network = nn.Sequential(nn.SiLU())
    torch.testing.assert_close(gradient(network), derivative())
    with activation_rules(network, rules):
        # x·σ(x) / x = σ(x); 0 where x is 0
        expected = X.sigmoid().where(X != 0, 0.0) if rules == "attnlrp" else derivative()
        torch.testing.assert_close(gradient(network), expected)
        assert network(X).equal(nn.functional.silu(X))
    torch.testing.assert_close(gradient(network), derivative())


def test_what_is_not_elementwise_keeps_its_gradient() -> None:
    """A softmax; and what returns another shape than it reads."""
    with activation_rules(softmax := nn.Softmax(-1), "attnlrp"):
        assert gradient(softmax).abs().max() < 1e-6  # of a sum that is always 1

    class Halves(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return x[: len(x) // 2] ** 2

    Halves.__module__ = "transformers.activations"
    with activation_rules(halves := Halves(), "attnlrp"):
        assert gradient(halves).tolist() == [-4.0, -1.0, 0.0, 0.0, 0.0]
