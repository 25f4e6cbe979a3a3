"""LayerNorm, and BatchNorm beside it, against torch."""

import torch
from torch import nn

from models.lessons.norms import batch_normed, layer_normed

ROUNDING = 1e-6  # float32 numbers below 10


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
