"""A vision transformer whose tokens, or only their contents, are put into another order.

Attention treats its tokens as a set. Tokens that carry their position vector along can be shuffled
without any effect on the class token; patches that are dealt to other positions cannot.
"""

from collections.abc import Sequence
from typing import Literal

import torch
from einops import rearrange
from jaxtyping import Float
from torch import Tensor

from models.patches import pair
from models.vit import ViT, ViTOutput

Shuffle = Literal["none", "tokens", "patches"]


def run_shuffled(
    network: ViT,
    pixels: Float[Tensor, "batch channel row col"],
    how: Shuffle,
    order: Sequence[int],
) -> ViTOutput:
    """A forward pass.

    Args:
        network: with a class token and no registers.
        pixels: of an image whose sides are multiples of a patch's.
        how: "tokens" shuffles the patches' tokens after positions were added, "patches" the patches
            before; "none" leaves both.
        order: at each position of a patch, the patch that comes there.
    """
    with torch.no_grad():
        if how == "patches":
            pixels = _dealt(pixels, network, order)
        x = network.embed(pixels)
        if how == "tokens":
            x = torch.cat([x[:, :1], x[:, 1:][:, list(order)]], dim=1)
        states, patterns = [x], []
        for block in network.blocks:
            x, pattern = block(x)
            states.append(x)
            patterns.append(pattern)
        hidden = network.norm(x)
        logits = None if network.head is None else network.head(network.pool(hidden))
    return ViTOutput(logits, hidden, tuple(states), tuple(patterns))


def _dealt(
    pixels: Float[Tensor, "batch channel row col"], network: ViT, order: Sequence[int]
) -> Float[Tensor, "batch channel row col"]:
    """The image put together from its patches in another order."""
    high, wide = pair(network.config.patch)
    rows, cols = pixels.shape[2] // high, pixels.shape[3] // wide
    sizes = {"rows": rows, "cols": cols, "high": high, "wide": wide}
    inside = "batch channel (rows high) (cols wide)"
    flat = "batch (rows cols) channel high wide"
    patches = rearrange(pixels, f"{inside} -> {flat}", **sizes)[:, list(order)]
    return rearrange(patches, f"{flat} -> {inside}", **sizes)
