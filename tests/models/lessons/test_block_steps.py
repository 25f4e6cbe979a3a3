"""A block line by line is the block."""

import pytest
import torch

from models.attention import MultiHeadAttentionConfig
from models.blocks import PreNormDecoderBlock
from models.lessons.block_steps import block_steps, decoder_steps, random_block

X = torch.randn(2, 7, 15, generator=torch.Generator().manual_seed(3))


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_the_lines_meet_the_forward_pass(norm: str) -> None:
    block = random_block(norm, 15, 31, seed=0)
    steps = block_steps(block, X)
    with torch.no_grad():
        out, _ = block(X)
    assert steps[0].out.equal(X)
    assert (steps[-1].out - out).abs().max() < 1e-6  # the same sums
    names = [step.name for step in steps]
    for place in (n for n, name in enumerate(names) if name == "+"):
        layer, start = steps[place - 1].out, steps[0 if place < 4 else 3].out
        assert (steps[place].out - layer - start).abs().max() < 1e-6


def test_both_kinds_have_the_same_matrices() -> None:
    pre, post = (random_block(norm, 15, 31, seed=0).state_dict() for norm in ("pre", "post"))
    shared = {name for name in pre if "norm" not in name and not name.startswith("before")}
    assert len(shared) == len(pre) - 4
    assert all(pre[name].equal(post[name]) for name in shared)


def test_the_lines_of_a_decoder_block_meet_its_forward_pass() -> None:
    torch.manual_seed(5)
    block = PreNormDecoderBlock(MultiHeadAttentionConfig(dim=15, heads=3), 31).eval()
    context = torch.randn(2, 11, 15)
    steps = decoder_steps(block, X, context)
    with torch.no_grad():
        out, _ = block(X, context)
    assert (steps[-1].out - out).abs().max() < 1e-6  # the same sums
    without = decoder_steps(block, X, context, without=["cross-attention"])
    other = decoder_steps(block, X, context + 1, without=["cross-attention"])
    assert without[-1].out.equal(other[-1].out)
    assert not without[-1].out.equal(steps[-1].out)
