"""Positional encodings: published numbers and a plain loop."""

import math

import pytest
import torch

from models.positional import Learned, Sinusoidal, positions_of, sinusoidal
from tests.models.devices import DEVICES

# sin and cos of p / 10000^(2i/32), by hand
BY_HAND = {
    (0, 0): 0.0,
    (0, 1): 1.0,
    (1, 0): 0.84147,
    (1, 1): 0.54030,
    (1, 2): 0.53317,
    (59, 0): 0.63674,
    (59, 1): -0.77108,
    (59, 30): 0.010492,
    (59, 31): 0.99994,
}


@pytest.mark.parametrize(("cell", "expected"), BY_HAND.items())
def test_sinusoidal_by_hand(cell: tuple[int, int], expected: float) -> None:
    assert abs(float(sinusoidal(60, 32)[cell]) - expected) < 5e-6  # as many digits as are given


@pytest.mark.parametrize(("dim", "base"), [(32, 10_000.0), (7, 10_000.0), (1, 10_000.0), (6, 97.0)])
def test_sinusoidal_equals_the_loop(dim: int, base: float) -> None:
    table = sinusoidal(11, dim, base=base)
    assert table.shape == (11, dim)
    for p in range(11):
        for column in range(dim):
            angle = p / base ** (2 * (column // 2) / dim)
            expected = math.cos(angle) if column % 2 else math.sin(angle)
            assert abs(float(table[p, column]) - expected) < 1e-7  # float32 below 1: 6e-8


def test_far_positions_keep_their_digits() -> None:
    """Angles are in float64: in float32 position 100,003 would be off by 4e-3."""
    assert abs(float(sinusoidal(100_004, 2)[100_003, 0]) - math.sin(100_003)) < 1e-7


@pytest.mark.parametrize(("positions", "dim"), [(0, 5), (5, 0)])
def test_sinusoidal_refuses_nothing(positions: int, dim: int) -> None:
    with pytest.raises(ValueError, match=f"received {positions} and {dim}"):
        sinusoidal(positions, dim)


@pytest.mark.parametrize("device", DEVICES)
def test_sinusoidal_is_added(device: str) -> None:
    x = torch.randn(2, 5, 7, device=device)
    added = Sinusoidal()(x) - x
    assert torch.allclose(added.cpu(), sinusoidal(5, 7).expand(2, 5, 7), atol=1e-6)  # x up to 5


def test_learned_is_added_by_position() -> None:
    learned = Learned(13, 7)
    x = torch.zeros(2, 5, 7)
    assert learned(x).equal(learned.table[:5].expand(2, 5, 7))


def test_none_adds_nothing_and_others_are_refused() -> None:
    x = torch.randn(2, 5, 7)
    assert positions_of("none", 13, 7)(x).equal(x)
    with pytest.raises(ValueError, match="expected one of sinusoidal, learned, .*none, received 'x'"):
        positions_of("x", 13, 7)
