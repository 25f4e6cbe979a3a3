"""Encoder and decoder blocks one line at a time."""

from collections.abc import Collection
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from models.attention import Mask, MultiHeadAttentionConfig
from models.blocks import BLOCKS, PostNormBlock, PreNormBlock, PreNormDecoderBlock
from models.seeding import seeded


@dataclass(frozen=True, eq=False)
class BlockStep:
    """One step of a block.

    Attributes:
        name: "x", "attention", "cross-attention", "feed-forward", "norm" or "+".
        out: its output.
    """

    name: str
    out: Float[Tensor, "batch token dim"]


def random_block(norm: str, dim: int, hidden: int, *, seed: int) -> PostNormBlock | PreNormBlock:
    """An untrained block; the same seed gives both kinds the same matrices.

    Args:
        norm: "pre" or "post".
        dim: width of a token.
        hidden: width inside the feed-forward network.
        seed: of the weights.
    """
    with seeded(seed):
        return BLOCKS[norm](MultiHeadAttentionConfig(dim=dim, heads=1), hidden).eval()


@torch.no_grad()
def block_steps(
    block: PostNormBlock | PreNormBlock,
    x: Float[Tensor, "batch token dim"],
    *,
    without: Collection[str] = (),
) -> list[BlockStep]:
    """The input and the result of every step of the block; the last is the output.

    Args:
        block: whose steps are taken.
        x: its input.
        without: layers whose output is replaced by zeros: "attention", "feed-forward".
    """
    kept = {name: float(name not in without) for name in ("attention", "feed-forward")}
    if isinstance(block, PreNormBlock):
        calm = block.before_attention(x)
        attended = kept["attention"] * block.attention(calm)[0]
        between = x + attended
        again = block.before_feed_forward(between)
        fed = kept["feed-forward"] * block.feed_forward(again)
        states = [x, calm, attended, between, again, fed, between + fed]
        names = ("x", "norm", "attention", "+", "norm", "feed-forward", "+")
    else:
        attended = kept["attention"] * block.attention(x)[0]
        normed = block.after_attention(x, attended)
        fed = kept["feed-forward"] * block.feed_forward(normed)
        out = block.after_feed_forward(normed, fed)
        states = [x, attended, x + attended, normed, fed, normed + fed, out]
        names = ("x", "attention", "+", "norm", "feed-forward", "+", "norm")
    return [BlockStep(*each) for each in zip(names, states, strict=True)]


@torch.no_grad()
def decoder_steps(
    block: PreNormDecoderBlock,
    x: Float[Tensor, "batch token dim"],
    context: Float[Tensor, "batch key dim"],
    *,
    without: Collection[str] = (),
) -> list[BlockStep]:
    """The input and the result of every step of a decoder block; the last is the output.

    Args:
        block: whose steps are taken.
        x: its input.
        context: what the encoder returned.
        without: layers whose output is replaced by zeros: "attention", "cross-attention",
            "feed-forward".
    """

    def kept(name: str, out: Tensor) -> BlockStep:
        return BlockStep(name, torch.zeros_like(out) if name in without else out)

    normed = block.before_attention(x)
    attended = kept("attention", block.attention(normed, mask=Mask(causal=True))[0])
    added = x + attended.out
    asking = block.before_cross(added)
    crossed = kept("cross-attention", block.cross(asking, context)[0])
    both = added + crossed.out
    again = block.before_feed_forward(both)
    fed = kept("feed-forward", block.feed_forward(again))
    return [
        BlockStep("x", x),
        BlockStep("norm", normed),
        attended,
        BlockStep("+", added),
        BlockStep("norm", asking),
        crossed,
        BlockStep("+", both),
        BlockStep("norm", again),
        fed,
        BlockStep("+", both + fed.out),
    ]
