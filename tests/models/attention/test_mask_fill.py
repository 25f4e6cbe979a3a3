"""What stands in the score of a hidden key: −∞, or a large negative number."""

import math

import pytest
import torch
from torch import Tensor

from models.attention import Mask, attend
from models.edits import Temperature

BATCH, HEADS, QUERIES, KEYS, DIM = 2, 3, 5, 11, 7
FILL = -1e9
HIDDEN = torch.rand(BATCH, HEADS, QUERIES, KEYS, generator=torch.Generator().manual_seed(2)) > 0.6
HIDDEN[1, 2, 3] = True  # a row with no key


def inputs() -> tuple[Tensor, Tensor, Tensor]:
    dice = torch.Generator().manual_seed(5)
    sizes = (QUERIES, KEYS, KEYS)
    q, k, v = (torch.randn(BATCH, HEADS, size, DIM, generator=dice) for size in sizes)
    return q, k, v


def test_equals_the_formula() -> None:
    """softmax of the scores with the number in place of the hidden ones."""
    q, k, v = inputs()
    values, pattern = attend(q, k, v, mask=Mask(dense=~HIDDEN, fill=FILL))
    expected = torch.softmax((q @ k.mT / math.sqrt(DIM)).masked_fill(HIDDEN, FILL), -1)
    assert pattern.path == "explicit"
    assert (pattern.weights() - expected).abs().max() < 1e-6  # float32 below 1
    assert (values - expected @ v).abs().max() < 1e-6 * v.abs().max()
    assert pattern.scores()[HIDDEN].eq(FILL).all()


def test_it_stands_after_the_temperature() -> None:
    q, k, v = inputs()
    mask = Mask(causal=True, fill=-2.0)
    _, pattern = attend(q, k, v, mask=mask, edit=Temperature(0.5))
    expected = torch.where(_later(), -2.0, q @ k.mT / math.sqrt(DIM) / 0.5)
    assert (pattern.scores() - expected).abs().max() < 1e-5  # scores up to 10


@pytest.mark.parametrize("fill", [0.0, 1e9, math.nan])
def test_what_hides_nothing_is_refused(fill: float) -> None:
    with pytest.raises(ValueError, match=f"fill: expected a number below 0, received {fill}"):
        Mask(fill=fill)


def _later() -> Tensor:
    return torch.ones(QUERIES, KEYS, dtype=torch.bool).triu(1)
