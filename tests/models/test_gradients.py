"""Linear maps that pass no gradient end a pass that needs one."""

from typing import Any

import pytest
import torch
from torch import nn

from models.encoder import EncoderConfig
from models.run import load, trace
from tests.models.architectures import ARCHITECTURES

BY_NAME = {architecture.name: architecture for architecture in ARCHITECTURES}
IDS = torch.tensor([[3, 4, 5]])


class Detached(nn.Linear):
    """As a quantised map computes: outside of what PyTorch differentiates."""

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        return super().forward(input).detach()


class WithoutDerivative(nn.Linear):
    """As PyTorch's own quantised maps do: it warns, and its gradient is zero."""

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        return torch.ops.headscope_tests.linear(input, self.weight) + (
            0 if self.bias is None else self.bias
        )


LIBRARY = torch.library.Library("headscope_tests", "DEF")
LIBRARY.define("linear(Tensor x, Tensor weight) -> Tensor")
LIBRARY.impl("linear", lambda x, weight: x.detach() @ weight.detach().T, "CPU")


def networks() -> dict[str, Any]:
    ours = load(EncoderConfig(vocab=11, dim=15, heads=3, mlp=17, classes=2)).network
    return {"ours": ours, "theirs": BY_NAME["Llama"].build()}


@pytest.mark.parametrize("kind", [Detached, WithoutDerivative])
@pytest.mark.parametrize("name", networks())
def test_a_map_that_passes_no_gradient_is_named(name: str, kind: type) -> None:
    network = networks()[name]
    path, last = [
        (path, part)
        for path, part in network.named_modules()
        if isinstance(part, nn.Linear) and part.in_features == (17 if name == "ours" else 40)
    ][-1]
    last.__class__ = kind
    model = load(network)
    assert trace(model, IDS).sites
    line = rf"^{path} \(.*{kind.__name__}\) passes no gradient, as quantised weights do not"
    with pytest.raises(ValueError, match=line):
        trace(model, IDS, gradient=lambda output: output.values.sum())
    last.__class__ = nn.Linear
    found = trace(model, IDS, gradient=lambda output: output.values.sum())
    assert found.gradient(0).abs().sum() > 0
    assert not any(part._forward_hooks for part in network.modules())
