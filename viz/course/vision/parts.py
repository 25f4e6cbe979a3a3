"""What the figure of the vision transformer shows of a picture and of one pass over it."""

import base64
import io
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from models.lessons.shuffled import Shuffle
    from models.vit import ViT, ViTOutput

SEED = 1  # of the shuffled order


def patches(image: Any, side: int, enlarged: int) -> list[str]:
    """The patches of a picture as data: URLs, row by row.

    Args:
        image: of Pillow.
        side: of a patch in pixels.
        enlarged: side of a pixel in a patch's file.
    """
    wide, high = image.size
    corners = [(x, y) for y in range(0, high, side) for x in range(0, wide, side)]
    return [_file(image.crop((x, y, x + side, y + side)), enlarged) for x, y in corners]


def _file(patch: Any, enlarged: int) -> str:
    from PIL import Image

    file = io.BytesIO()
    size = (patch.width * enlarged, patch.height * enlarged)
    patch.resize(size, Image.Resampling.NEAREST).save(file, "WEBP", lossless=True)
    return f"data:image/webp;base64,{base64.b64encode(file.getvalue()).decode()}"


def shuffled(count: int) -> list[int]:
    """At each position, the patch that comes there."""
    import torch

    return torch.randperm(count, generator=torch.Generator().manual_seed(SEED)).tolist()


def places(count: int, shuffle: "Shuffle") -> dict[str, list[int]]:
    """Where each patch comes in the sequence and in the picture."""
    there = list(range(count))
    order = there if shuffle == "none" else shuffled(count)
    place_of = [order.index(patch) for patch in there]
    return {"sequence": place_of, "places": place_of if shuffle == "patches" else there}


def weights(out: "ViTOutput", layer: int, head: int) -> dict[str, Any]:
    """The class token's weights on itself and at each position of a patch."""
    one = out.patterns[layer].weights(head, [0], item=0)[0]
    return {"at": one[1:].tolist(), "own": one[0].item(), "largest": one[1:].max().item()}


def alike(network: "ViT", grid: tuple[int, int], position: int) -> list[float]:
    """Cosine similarity of a patch position's vector with those of all."""
    import torch

    with torch.no_grad():
        vectors = network.positions.vectors(grid, network.config.width)[-grid[0] * grid[1] :]
        return torch.cosine_similarity(vectors[position][None], vectors, dim=-1).tolist()


def norms(network: "ViT", out: "ViTOutput", layer: int) -> dict[str, Any]:
    """The norm of every token after each step of a block, the class token first."""
    from models.blocks import PreNormBlock
    from models.lessons.block_steps import block_steps

    block = network.blocks[layer]
    if not isinstance(block, PreNormBlock):
        raise TypeError(f"expected a pre-norm block, received {type(block).__name__}")
    steps = block_steps(block, out.states[layer])
    sizes = [step.out[0].norm(dim=-1).tolist() for step in steps]
    return {
        "layer": layer,
        "after": layer + 1,
        "names": [step.name for step in steps],
        "norms": sizes,
        "class": [each[0] for each in sizes],
    }
