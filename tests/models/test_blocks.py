"""Feed-forward, Add & Norm and the blocks: hand numbers, torch's weights, dropped branches.

That a block equals torch's layer is what test_networks.py sees in whole stacks of them.
"""

from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from models.blocks import BLOCKS, Context, DropPath, standardised
from models.encoder import EncoderConfig
from tests.models.tensors import noise

BATCH, TOKENS, DIM, HEADS, HIDDEN = 2, 11, 35, 5, 53
SOURCE = 13
CONFIG = EncoderConfig(dim=DIM, heads=HEADS, mlp=HIDDEN, activation="relu", dropout=0.0)


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
