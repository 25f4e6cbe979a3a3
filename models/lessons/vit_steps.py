"""A vision transformer one step at a time: the tensor after each line, with its shape.

Steps 1 to 4 compute the input of the first block, step 5 is that block, step 6 all blocks and the
head (Dosovitskiy et al. 2021, equations 1 to 4).
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from models.attention import Pattern
from models.blocks import PreNormBlock
from models.patches import cut
from models.vit import ViT


@dataclass(frozen=True, eq=False)
class ViTStep:
    """One step.

    Attributes:
        number: "1" to "6", and "5.1" to "5.6" inside the first block.
        name: short description.
        formula: in symbols.
        out: the result.
        axes: names of the axes of `out`.
    """

    number: str
    name: str
    formula: str
    out: Tensor
    axes: tuple[str, ...]


TOKENS = ("batch", "tokens", "dim")


def vit_steps(
    network: ViT, pixels: Float[Tensor, "batch channel row col"]
) -> tuple[tuple[ViTStep, ...], Pattern]:
    """Every step for these pixels, and the pattern of the first block.

    Raises:
        ValueError: for a network without a projection, a class token or pre-norm blocks.
    """
    config, first = network.config, network.blocks[0]
    if config.dim is None or config.head != "class" or not isinstance(first, PreNormBlock):
        raise ValueError(
            "expected a projection, a class token and pre-norm blocks, received"
            f" dim {config.dim}, head {config.head!r} and norm {config.norm!r}"
        )
    with torch.no_grad():
        flat = cut(pixels, config.patch, config.order)
        projected, grid = network.patches(pixels)
        prefix = network.prefix[:1].expand(len(pixels), -1, -1)
        longer = torch.cat([prefix, network.patch_norm(projected)], dim=1)
        placed = network.positions(longer, grid)
        inside, pattern = _block_steps(first, placed)
        out = network(pixels)
    steps = [
        ViTStep("1", "Cut into patches", config.order, flat, ("batch", "patches", "numbers")),
        ViTStep("2", "Project every patch", "x E + b", projected, ("batch", "patches", "dim")),
        ViTStep("3", "Put a class token in front", "[class | x]", longer, TOKENS),
        ViTStep("4", "Add positions", "x + T", placed, TOKENS),
        *inside,
        ViTStep("6", f"All {config.depth} blocks, and a norm", "norm(x)", out.hidden, TOKENS),
    ]
    if out.logits is not None:
        head = ViTStep("6", "Class token to classes", "W x₀ + b", out.logits, ("batch", "classes"))
        steps.append(head)
    return tuple(steps), pattern


def _block_steps(
    block: PreNormBlock, x: Float[Tensor, "batch token dim"]
) -> tuple[list[ViTStep], Pattern]:
    """The six steps of a pre-norm block."""
    y1 = block.before_attention(x)
    attended, pattern = block.attention(y1)
    z1 = x + attended
    y = block.before_feed_forward(z1)
    z = block.feed_forward(y)
    lines = [
        ("5.1", "Norm", "y₁ = norm(x)", y1),
        ("5.2", "Attention", "z₁ = attention(y₁)", attended),
        ("5.3", "Residual", "z₁ = z₁ + x", z1),
        ("5.4", "Norm", "y = norm(z₁)", y),
        ("5.5", "Feed-forward", "z = feed-forward(y)", z),
        ("5.6", "Residual", "x = z + z₁", z1 + z),
    ]
    return [ViTStep(*line, TOKENS) for line in lines], pattern
