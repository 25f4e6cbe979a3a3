"""LayerNorm number by number, and BatchNorm beside it, against torch."""

import pytest
import torch
from torch import nn

from models.blocks import LayerNorm
from models.lessons.norms import batch_normed, layer_normed, norm_steps

X = torch.tensor([2.5, 0.0, 0.0, 1.5, -3.0])
ROUNDING = 1e-6  # float32 numbers below 10


def test_by_hand() -> None:
    """Mean 1, squares 2.25 + 1 + 1 + 0.25, variance 1.125."""
    found = norm_steps(LayerNorm(4, eps=0.5), torch.tensor([2.5, 0.0, 0.0, 1.5]))
    assert float(found.mean) == 1
    assert found.centred.tolist() == [1.5, -1, -1, 0.5]
    assert found.squares.tolist() == [2.25, 1, 1, 0.25]
    assert float(found.variance) == 1.125
    assert float(found.deviation) == pytest.approx(1.625**0.5)
    assert found.out.tolist() == pytest.approx([v / 1.625**0.5 for v in (1.5, -1, -1, 0.5)])


@pytest.mark.parametrize("eps", [1e-5, 0.5])
def test_the_last_step_is_torchs(eps: float) -> None:
    mine, theirs = LayerNorm(5, eps=eps), nn.LayerNorm(5, eps=eps)
    with torch.no_grad():
        for layer in (mine, theirs):
            layer.weight.copy_(torch.tensor([1.0, 2, 3, 0, -1]))
            layer.bias.copy_(torch.tensor([0.5, 0, -1, 2, 0]))
    found = norm_steps(mine, X)
    assert (found.out - theirs(X).detach()).abs().max() < ROUNDING
    again = mine.weight.detach() * found.standardised + mine.bias.detach()
    assert (again - found.out).abs().max() < ROUNDING


def test_rows_and_columns() -> None:
    x = torch.randn(7, 5)
    layer, batch = nn.LayerNorm(5, elementwise_affine=False), nn.BatchNorm1d(5, affine=False)
    assert (layer_normed(x) - layer(x)).abs().max() < ROUNDING
    assert (batch_normed(x) - batch.train()(x)).abs().max() < ROUNDING


def test_only_batch_norm_minds_the_others() -> None:
    x = torch.randn(3, 5)
    other = x.clone()
    other[1, 0] += 30
    assert layer_normed(x)[0].equal(layer_normed(other)[0])
    assert not batch_normed(x)[0].allclose(batch_normed(other)[0])
