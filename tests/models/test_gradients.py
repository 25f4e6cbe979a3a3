"""Quantised weights end a pass that needs a gradient."""

import pytest
import torch
from torch import nn

from models.encoder import EncoderConfig
from models.run import load, trace

IDS = torch.tensor([[3, 4, 5]])


class Quantised(nn.Linear):
    """A map whose weights are whole numbers."""

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        return input.detach() @ self.weight.float().T + self.bias


def test_quantised_weights_that_pass_no_gradient_are_named() -> None:
    model = load(EncoderConfig(vocab=11, dim=15, heads=3, mlp=17, classes=2))
    last = model.network.blocks[1].feed_forward.down
    last.__class__, weight = Quantised, last.weight
    last.weight = nn.Parameter((9 * weight.detach()).char(), requires_grad=False)
    assert trace(model, IDS).sites
    line = r"^blocks.1.feed_forward.down.weight \(torch.int8\) passes no gradient, as quantised"
    with pytest.raises(ValueError, match=line):
        trace(model, IDS, gradient=lambda output: output.values.sum())
