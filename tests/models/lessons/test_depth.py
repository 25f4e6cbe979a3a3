"""Untrained stacks: what pre- and post-norm do to states and gradients."""

import pytest
import torch

from models.lessons.depth import DIM, TOKENS, growth, last_gradient


def test_sizes() -> None:
    found = growth("post", 5)
    assert found.sizes.shape == (6,)
    assert found.gradients.shape == (5,)
    assert (found.sizes[1:] - 1).abs().max() < 1e-3  # a LayerNorm's output, ε aside


def test_states_of_pre_norm_grow() -> None:
    found = growth("pre", 8)
    assert found.sizes[-1] > 2 * found.sizes[0]
    assert not growth("pre", 8, seed=1).sizes.equal(found.sizes)
    assert growth("pre", 8).sizes.equal(found.sizes)


def test_the_last_gradient_shrinks_with_depth_under_pre_norm_only() -> None:
    """Theorem 1 of Xiong et al. 2020: of the order of 1/√depth, and of 1."""
    last = {norm: [last_gradient(norm, depth) for depth in (1, 16)] for norm in ("pre", "post")}
    assert last["pre"][1] < 0.5 * last["pre"][0]
    assert last["post"][1] > 0.8 * last["post"][0]


def test_gradients_are_those_of_the_loss() -> None:
    """Against a backward pass through a network of the same seed."""
    from models.encoder import Encoder, EncoderConfig

    config = EncoderConfig(
        vocab=97, dim=DIM, depth=2, heads=4, mlp=4 * DIM, norm="pre", dropout=0.0
    )
    dice = torch.Generator().manual_seed(0)
    ids = torch.randint(97, (4, TOKENS), generator=dice)
    wanted = torch.randn(4, TOKENS, DIM, generator=dice)
    network = Encoder(config)
    (network(ids).hidden - wanted).square().mean().backward()
    found = growth("pre", 2).gradients
    for layer in range(2):
        gradient = network.get_parameter(f"blocks.{layer}.feed_forward.down.weight").grad
        assert gradient is not None
        assert float(found[layer]) == pytest.approx(float(gradient.norm()), abs=1e-6)
