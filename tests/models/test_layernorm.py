"""A token's features at mean 0 and deviation 1: hand numbers, then torch's."""

import pytest
import torch
import torch.nn.functional as F

from models.blocks import standardised
from tests.models.tensors import noise


def test_by_hand() -> None:
    """(1, 2, 3, 6): mean 3, biased variance 3.5 (the unbiased one would be 4.67)."""
    found = standardised(torch.tensor([1.0, 2.0, 3.0, 6.0]), eps=0.5)
    assert found.tolist() == pytest.approx([-1.0, -0.5, 0.0, 1.5], abs=1e-6)  # √(3.5 + 0.5) = 2


@pytest.mark.parametrize("shape", [(7,), (2, 3, 5, 7)])
def test_equals_torch(shape: tuple[int, ...]) -> None:
    x = 3 * noise(*shape) + 5
    torch.testing.assert_close(standardised(x), F.layer_norm(x, (7,)), rtol=0, atol=1e-5)
