"""Rotations by position, applied and found: against a loop over the pairs."""

import cmath

import pytest
import torch
from torch import Tensor

from models.attention.fitted_rotation import Rotation, alike, rotation_between
from tests.models.tensors import noise

HEADS, TOKENS = 11, 5  # more heads than features: no axis is taken for another
SHAPES = [(TOKENS,), (HEADS, TOKENS), (2, HEADS, TOKENS)]


def rotated(x: Tensor, angles: Tensor, neighbours: bool) -> Tensor:
    """Pair by pair, as complex numbers."""
    pairs = angles.shape[1]
    made = x.clone()
    for token in range(angles.shape[0]):
        for pair in range(pairs):
            a, b = (2 * pair, 2 * pair + 1) if neighbours else (pair, pair + pairs)
            turn = cmath.rect(1.0, float(angles[token, pair]))
            number = torch.complex(x[..., token, a], x[..., token, b]) * turn
            made[..., token, a], made[..., token, b] = number.real, number.imag
    return made


@pytest.mark.parametrize("neighbours", [False, True])
@pytest.mark.parametrize("dim", [6, 7, 4])
@pytest.mark.parametrize("shape", SHAPES)
def test_pairs_are_rotated(shape: tuple[int, ...], dim: int, neighbours: bool) -> None:
    """Of the first four features; the rest stays."""
    x, angles = noise(*shape, dim), noise(TOKENS, 2, seed=5)
    found = Rotation(angles.double(), 4, neighbours)(x)
    assert found.dtype == x.dtype
    torch.testing.assert_close(found, rotated(x, angles, neighbours))


@pytest.mark.parametrize("neighbours", [False, True])
@pytest.mark.parametrize("dim", [4, 6, 7, 9])
def test_a_rotation_is_found(dim: int, neighbours: bool) -> None:
    x, angles = noise(HEADS, TOKENS, dim), noise(TOKENS, 2, seed=5)
    after = rotated(x, angles, neighbours)
    found = rotation_between(x, after)
    assert found is not None
    torch.testing.assert_close(found(x), after)
    assert (found.neighbours, found.angles.shape[1]) == (neighbours, found.width // 2)
    torch.testing.assert_close(found.angles[:, :2].float(), angles)
    # neighbours that are not rotated are rotated by 0
    assert found.width == (dim - dim % 2 if neighbours else 4)
    assert (found.angles[:, 2:].abs() < 1e-5).all()


@pytest.mark.parametrize("size", [1e-3, 1.0, 1e3])
def test_what_rounding_moves_is_not_rotated(size: float) -> None:
    """Whatever the size of the numbers."""
    x, angles = size * noise(HEADS, TOKENS, 9), noise(TOKENS, 2, seed=5)
    found = rotation_between(x * (1 + 2e-6), rotated(x, angles, neighbours=False))
    assert found is not None
    assert (found.width, found.neighbours) == (4, False)


def test_what_is_no_rotation() -> None:
    x = noise(HEADS, TOKENS, 6)
    assert rotation_between(x[..., :1], x[..., :1]) is None  # half a pair
    for other in (2 * x, x.flip(0), x.flip(2), noise(HEADS, TOKENS, 6, seed=8)):
        assert rotation_between(x, other) is None


@pytest.mark.parametrize(
    ("dtype", "close", "apart"),
    [
        (torch.float32, 5e-5, 2e-4),
        (torch.float64, 5e-5, 2e-4),
        (torch.bfloat16, 2e-2, 5e-2),
        (torch.float16, 2e-2, 5e-2),
    ],
)
def test_alike_but_for_rounding(dtype: torch.dtype, close: float, apart: float) -> None:
    """Of the largest number, wherever the difference is."""
    b = torch.tensor([[0.5, -8.0], [0.0, 1.0]], dtype=dtype)
    for step, expected in ((0.0, True), (close, True), (apart, False)):
        a = b.to(torch.float64, copy=True)
        a[1, 0] += 8 * step
        assert alike(a, b) is expected
    assert not alike(b[0], b)
    assert not alike(torch.zeros(2, 3), torch.zeros(3, 2))
    assert alike(torch.zeros(2, 3), torch.zeros(2, 3))
    assert not alike(torch.full((2, 3), 1e-9), torch.zeros(2, 3))
    assert alike(torch.zeros(0, 3), torch.zeros(0, 3))
