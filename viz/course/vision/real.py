"""What DINOv2 does with a photo, in our own code, and what its class token needs of it."""

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from viz.course import real
from viz.course.vision import parts

if TYPE_CHECKING:
    from models.lessons.shuffled import Shuffle
    from models.vit import ViT, ViTOutput

MODEL = "dinov2"
PHOTO = "flower"
SIDE, PATCH, WIDTH, DEPTH = 224, 14, 384, 12
GRID = (SIDE // PATCH, SIDE // PATCH)
LAYER = 11
DRAWS = 20  # of as many random patches


@lru_cache(maxsize=4)
def image(photo: str) -> Any:
    """A photo as the network reads it, before normalisation."""
    from models.inputs.pictures import processed

    preprocessing = real.opened(MODEL, "own").preprocessing
    if preprocessing is None:
        raise ValueError("expected a model with preprocessing")
    return processed(preprocessing, _opened(photo)).image


@real.of(MODEL)
def attends(photo: str, shuffle: "Shuffle", layer: int, head: int) -> dict[str, Any]:
    """The class token's weights in a head, position by position."""
    return parts.weights(_run(photo, shuffle), layer, head)


@real.of(MODEL)
def norms(photo: str, shuffle: "Shuffle", layer: int) -> dict[str, Any]:
    """The norm of every token after each step of a block."""
    return parts.norms(_network(), _run(photo, shuffle), layer)


@real.of(MODEL)
def alike(position: int) -> dict[str, Any]:
    """How similar a position's vector is to all others."""
    return {"similar": parts.alike(_network(), GRID, position)}


@real.of(MODEL)
def moved(photo: str, shuffle: "Shuffle") -> dict[str, Any]:
    """What a shuffle does to the class token's last vector."""
    import torch

    plain, now = (_run(photo, each).hidden[0, 0] for each in ("none", shuffle))
    return {
        "changed": (now - plain).abs().max().item(),
        "cosine": torch.cosine_similarity(plain, now, dim=0).item(),
    }


@lru_cache(maxsize=8)
def _run(photo: str, shuffle: "Shuffle") -> "ViTOutput":
    from models.image import to_pixels
    from models.lessons.shuffled import run_shuffled

    preprocessing = real.opened(MODEL, "own").preprocessing
    if preprocessing is None:
        raise ValueError("expected a model with preprocessing")
    pixels = to_pixels(image(photo), preprocessing.mean, preprocessing.std)
    return run_shuffled(_network(), pixels, shuffle, parts.shuffled(GRID[0] * GRID[1]))


def _network() -> "ViT":
    from models.vit import ViT

    network = real.opened(MODEL, "own").network
    if not isinstance(network, ViT):
        raise TypeError(f"expected a vision transformer, received {type(network).__name__}")
    return network


def _opened(photo: str) -> Any:
    from PIL import Image

    with Image.open(Path(__file__).parents[2] / "photos" / f"{photo}.jpg") as opened:
        return opened.convert("RGB")


@real.of(MODEL)
def needs() -> dict[str, Any]:
    """The class token's weights on the patches, and its last vector without a quarter of them."""
    import torch

    from models.edits import Cut

    photo = _opened(PHOTO)
    plain = real.traced(MODEL, photo)
    weights = plain.weights(LAYER)[:, 0, 1:].mean(0)
    count, vector = len(weights), plain.output.values[0, 0]
    quarter, order = count // 4, weights.argsort(descending=True)
    dice = torch.Generator().manual_seed(0)

    def without(patches: torch.Tensor) -> list[float]:
        edit = Cut(None, None, 0, tuple((patches + 1).tolist()))
        changed = real.traced(MODEL, photo, edit).output.values[0, 0]
        similar = torch.cosine_similarity(vector, changed, dim=0)
        return [weights[patches].sum().item(), similar.item()]

    chance = [without(torch.randperm(count, generator=dice)[:quarter]) for _ in range(DRAWS)]
    side = round(count**0.5)
    return {
        "weights": weights.reshape(side, side).tolist(),
        "count": count,
        "quarter": quarter,
        "most": without(order[:quarter]),
        "least": without(order[-quarter:]),
        "random": chance,
    }
