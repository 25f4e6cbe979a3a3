"""Feed-forward, Add & Norm and the blocks: hand numbers, torch's weights, dropped branches.

That a block equals torch's layer is what test_networks.py sees in whole stacks of them.
"""

import math
from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from models.blocks import BLOCKS, Context, DropPath, FeedForward, standardised
from models.encoder import EncoderConfig
from tests.models.tensors import noise

BATCH, TOKENS, DIM, HEADS, HIDDEN = 2, 11, 35, 5, 53
SOURCE = 13
CONFIG = EncoderConfig(dim=DIM, heads=HEADS, mlp=HIDDEN, activation="relu", dropout=0.0)
ROUNDING = 1e-6  # relative to the largest: a few dozen float32 products, then a norm


def _normal_cdf(x: float) -> float:
    return 0.5 * (1 + math.erf(x / math.sqrt(2)))


BY_HAND = {
    "relu": lambda x: max(x, 0.0),
    "gelu": lambda x: x * _normal_cdf(x),
    "gelu_tanh": lambda x: (
        0.5 * x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
    ),
    "tanh": math.tanh,
    "sigmoid": lambda x: 1 / (1 + math.exp(-x)),
    "silu": lambda x: x / (1 + math.exp(-x)),
    "softplus": lambda x: math.log(1 + math.exp(x)),
    "leaky_relu": lambda x: x if x > 0 else 0.01 * x,
}


@pytest.mark.parametrize("activation", BY_HAND)
def test_activations_by_hand(activation: str) -> None:
    layer = FeedForward(1, 1, activation=activation).requires_grad_(False)
    one, zero = torch.ones(1, 1), torch.zeros(1)
    layer.load_state_dict(
        {"up.weight": one, "up.bias": zero, "down.weight": one, "down.bias": zero}
    )
    for x in (-3.0, -0.7, 0.0, 0.4, 2.0):
        found = float(layer(torch.full((1, 1, 1), x)))
        assert abs(found - BY_HAND[activation](x)) < 1e-6  # float32 below 3


def test_standardised_by_hand() -> None:
    """(1, 2, 3, 6): mean 3, biased variance 3.5 (the unbiased one would be 4.67)."""
    found = standardised(torch.tensor([1.0, 2.0, 3.0, 6.0]), eps=0.5)
    assert found.tolist() == pytest.approx([-1.0, -0.5, 0.0, 1.5], abs=1e-6)  # √(3.5 + 0.5) = 2


@pytest.mark.parametrize("shape", [(7,), (2, 3, 5, 7)])
def test_standardised_equals_torch(shape: tuple[int, ...]) -> None:
    x = 3 * noise(*shape) + 5
    torch.testing.assert_close(standardised(x), F.layer_norm(x, (7,)), rtol=0, atol=1e-5)


# --- decoder blocks ---------------------------------------------------------------------------


def example() -> tuple[Tensor, Tensor]:
    """A target and a source."""
    dice = torch.Generator().manual_seed(23)
    return (
        torch.randn(BATCH, TOKENS, DIM, generator=dice),
        torch.randn(BATCH, SOURCE, DIM, generator=dice),
    )


@pytest.mark.parametrize("dropped", [{"dropout": 1 - 1e-9}, {"drop_path": 0.999}], ids=str)
@pytest.mark.parametrize("kind", ["post", "pre"])
@pytest.mark.parametrize("branches", [2, 3])
def test_a_block_that_loses_its_branches(
    branches: int, kind: str, dropped: dict[str, float]
) -> None:
    """While training alone: pre-norm passes x, post-norm leaves its norms, with β = 0 and γ = 1."""
    crosses, config = branches == 3, replace(CONFIG, depth=2, **dropped)
    block = BLOCKS[kind](config, 1, crosses=crosses)
    x, source = example()
    given = (x, Context(source) if crosses else None)
    assert (block.eval()(*given)[0] - given[0]).abs().max() > 0.01
    with torch.random.fork_rng():
        torch.manual_seed(1)
        found, _ = block.train()(*given)
    expected = given[0]
    for _ in range(0 if kind == "pre" else branches):
        expected = nn.LayerNorm(DIM)(expected)
    assert (found - expected).abs().max() < 1e-6  # three norms in float32


def test_dropped_paths_keep_the_mean() -> None:
    x = torch.ones(4001, 3, 5)
    with torch.random.fork_rng():
        torch.manual_seed(3)
        found = DropPath(0.25).train()(x)
    whole = found.amax((1, 2))
    assert found.amin((1, 2)).equal(whole)  # all of an item, or nothing
    assert set(whole.tolist()) == {0.0, float(torch.tensor(1 / 0.75))}
    assert abs(float(found.mean()) - 1) < 4 * (0.25 / 0.75 / 4001) ** 0.5  # standard errors
