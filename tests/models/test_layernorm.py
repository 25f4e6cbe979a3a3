"""LayerNorm from its formula: hand numbers, then torch's."""

import pytest
import torch
from torch import nn

from models.blocks import LayerNorm, standardised
from tests.models.devices import DEVICES
from tests.models.tensors import noise


def twins(dim: int, eps: float) -> tuple[LayerNorm, nn.LayerNorm]:
    ours, theirs = LayerNorm(dim, eps=eps), nn.LayerNorm(dim, eps=eps)
    with torch.no_grad():
        theirs.weight.copy_(noise(dim, seed=4))
        theirs.bias.copy_(noise(dim, seed=5))
    ours.load_state_dict(theirs.state_dict())
    return ours, theirs


def test_by_hand() -> None:
    """(1, 2, 3, 6): mean 3, biased variance 3.5 (the unbiased one would be 4.67)."""
    found = standardised(torch.tensor([1.0, 2.0, 3.0, 6.0]), eps=0.5)
    assert found.tolist() == pytest.approx([-1.0, -0.5, 0.0, 1.5], abs=1e-6)  # √(3.5 + 0.5) = 2


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("eps", [1e-5, 1e-6, 0.1])
@pytest.mark.parametrize("shape", [(7,), (11, 7), (2, 11, 7), (2, 3, 5, 7)])
def test_equals_torch(shape: tuple[int, ...], eps: float, device: str) -> None:
    ours, theirs = (layer.to(device) for layer in twins(7, eps))
    x = 3 * noise(*shape).to(device) + 5
    expected = theirs(x)
    # Centring 5 ± 3 costs a digit: 5e-7 of a deviation
    assert (ours(x) - expected).abs().max() < 5e-6 * expected.abs().max()


def test_gradients_equal_torch() -> None:
    ours, theirs = twins(7, 1e-5)
    x, y = (noise(2, 5, 7).requires_grad_() for _ in range(2))
    ours(x).pow(3).sum().backward()
    theirs(y).pow(3).sum().backward()
    pairs = [
        (x.grad, y.grad),
        *((a.grad, b.grad) for a, b in zip(ours.parameters(), theirs.parameters(), strict=True)),
    ]
    for found, expected in pairs:
        assert found is not None
        assert expected is not None
        assert (found - expected).abs().max() < 1e-5 * expected.abs().max()


def test_a_token_is_normed_by_itself() -> None:
    """Whatever else is in the batch: not so in batch normalisation."""
    x, layer = noise(2, 5, 7), LayerNorm(7)
    assert layer(x)[1, 3].equal(layer(x[1, 3]))
    constant = layer(torch.full((3, 7), 4.0))
    assert constant.eq(0).all()  # nothing to tell its features apart, and no division by zero
