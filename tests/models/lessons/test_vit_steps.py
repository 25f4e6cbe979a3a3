"""A vision transformer step by step is the vision transformer."""

from typing import Any

import pytest
import torch

from models.lessons.vit_steps import vit_steps
from models.vit import ViT, ViTConfig

SIZES: dict[str, Any] = {"image": 28, "patch": 7, "dim": 15, "heads": 3, "head_dim": 7, "mlp": 31}
PIXELS = torch.randn(2, 3, 28, 28, generator=torch.Generator().manual_seed(3))


@pytest.mark.parametrize("patches", ["linear", "conv"])
@pytest.mark.parametrize("depth", [1, 3])
def test_steps_meet_the_forward_pass(depth: int, patches: str) -> None:
    network = ViT(ViTConfig(**SIZES, depth=depth, patches=patches, classes=11)).eval()
    steps, pattern = vit_steps(network, PIXELS)
    with torch.no_grad():
        out = network(PIXELS)
    outs = [step.out for step in steps]
    assert outs[3].equal(out.states[0])
    assert (outs[9] - out.states[1]).abs().max() < 1e-5  # the same sums, numbers below 10
    assert outs[-2].equal(out.hidden)
    assert out.logits is not None
    assert outs[-1].equal(out.logits)
    assert pattern.weights(1).equal(out.patterns[0].weights(1))


def test_shapes_and_numbers() -> None:
    network = ViT(ViTConfig(**SIZES, classes=11)).eval()
    steps, _ = vit_steps(network, PIXELS)
    assert [step.number for step in steps] == [
        *("1", "2", "3", "4", "5.1", "5.2", "5.3", "5.4", "5.5", "5.6", "6", "6")
    ]
    assert [tuple(step.out.shape) for step in steps[:4]] == [
        *((2, 16, 147), (2, 16, 15), (2, 17, 15), (2, 17, 15))
    ]
    assert all(step.out.ndim == len(step.axes) for step in steps)
    assert (steps[4].out - steps[3].out).abs().max() > 0.1
    assert (steps[6].out - steps[3].out - steps[5].out).abs().max() < 1e-6


@pytest.mark.parametrize("more", [{"dim": None}, {"head": "mean"}, {"norm": "post"}])
def test_other_networks_are_refused(more: dict[str, Any]) -> None:
    sizes: dict[str, Any] = SIZES | more
    with pytest.raises(ValueError, match="expected a projection, a class token and pre-norm"):
        vit_steps(ViT(ViTConfig(**sizes)).eval(), PIXELS)
