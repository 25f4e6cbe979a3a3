"""A trained vision transformer: patches become a sequence, and the class token attends to them."""

import base64
import io
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from viz.api.figures.trained import trained

if TYPE_CHECKING:
    from models.lessons.shuffled import Shuffle
    from models.vit import ViTOutput

MODEL = "objects"
PICTURES = ("a-star", "a-heart", "a-moon")
ENLARGED = 4  # side of a pixel in a patch's file
BEST = 3  # answers to each question
SEED = 1  # of the shuffled order


class Cut(NamedTuple):
    """A picture and its patches.

    Attributes:
        pixels: as the network reads them.
        patches: PNG files as data: URLs, row by row.
        order: a shuffled order of them.
    """

    pixels: Any
    patches: tuple[str, ...]
    order: tuple[int, ...]


def numbers(
    picture: str, shuffle: "Shuffle", layer: int, head: int, position: int
) -> dict[str, Any]:
    """Patches and their positions, the class token's weights, and the answers.

    Args:
        picture: one of `PICTURES`.
        shuffle: see `run_shuffled`.
        layer: of the weights.
        head: of the weights.
        position: the patch position whose vector is compared with all others.
    """
    import torch.nn.functional as F

    found, plain, out = _cut(picture), _run(picture, "none"), _run(picture, shuffle)
    network, _ = _network()
    count = len(found.patches)
    order = list(range(count)) if shuffle == "none" else list(found.order)
    place_of = [order.index(patch) for patch in range(count)]
    weights = out.patterns[layer].weights(head, [0], item=0)[0]
    vectors = network.positions.vectors(network.config.grid, network.config.width)[-count:]
    similar = F.cosine_similarity(vectors[position][None], vectors, dim=-1)
    changed = (_shares(out) - _shares(plain)).abs().max()
    return {
        "patches": list(found.patches),
        "cols": network.config.grid[1],
        "count": count,
        "tokens": count + 1,
        "side": network.config.image,
        "patch": network.config.patch,
        "flat": 3 * network.config.patch**2,
        "width": network.config.width,
        "depth": network.config.depth,
        "sequence": place_of,
        "places": place_of if shuffle == "patches" else list(range(count)),
        "weights": [weights[1 + place].item() for place in place_of],
        "own": weights[0].item(),
        "largest": weights[1:].max().item(),
        "position": position,
        "similar": similar.tolist(),
        "least": similar.min().item(),
        "changed": changed.item(),
        "block": _block(picture, shuffle, layer),
        "questions": _answers(out),
        "before": _answers(plain)[0]["best"][0],
        "answer": _answers(out)[0]["best"][0],
    }


def _network() -> Any:
    model, card = trained(MODEL)
    return model.network, card


@lru_cache(maxsize=8)
def _cut(picture: str) -> Cut:
    """A shipped example picture and its patches."""
    import torch
    from PIL import Image

    from models.catalogue import CHECKPOINTS
    from models.image import to_pixels

    network, _ = _network()
    side = network.config.patch
    with Image.open(CHECKPOINTS / MODEL / f"{picture}.png") as opened:
        image = opened.convert("RGB")
    rows, cols = network.config.grid
    corners = [(col * side, row * side) for row in range(rows) for col in range(cols)]
    dice = torch.Generator().manual_seed(SEED)
    return Cut(
        to_pixels(image),
        tuple(_png(image.crop((x, y, x + side, y + side))) for x, y in corners),
        tuple(torch.randperm(len(corners), generator=dice).tolist()),
    )


def _png(patch: Any) -> str:
    from PIL import Image

    wide, high = patch.size
    file = io.BytesIO()
    size = (wide * ENLARGED, high * ENLARGED)
    patch.resize(size, Image.Resampling.NEAREST).save(file, "PNG")
    return f"data:image/png;base64,{base64.b64encode(file.getvalue()).decode()}"


@lru_cache(maxsize=16)
def _run(picture: str, shuffle: "Shuffle") -> "ViTOutput":
    from models.lessons.shuffled import run_shuffled

    found = _cut(picture)
    return run_shuffled(_network()[0], found.pixels, shuffle, found.order)


@lru_cache(maxsize=48)
def _block(picture: str, shuffle: "Shuffle", layer: int) -> dict[str, Any]:
    """The norm of every token after each step of a block, the class token first.

    Args:
        picture: one of `PICTURES`.
        shuffle: see `run_shuffled`.
        layer: of the block.
    """
    from models.blocks import PreNormBlock
    from models.lessons.block_steps import block_steps

    block = _network()[0].blocks[layer]
    if not isinstance(block, PreNormBlock):
        raise TypeError(f"expected a pre-norm block, received {type(block).__name__}")
    steps = block_steps(block, _run(picture, shuffle).states[layer])
    norms = [step.out[0].norm(dim=-1).tolist() for step in steps]
    return {
        "layer": layer,
        "after": layer + 1,
        "names": [step.name for step in steps],
        "norms": norms,
        "class": [each[0] for each in norms],
    }


def _parts(out: "ViTOutput") -> list[Any]:
    """The probabilities of each question's classes."""
    _, card = _network()
    if out.logits is None:
        raise ValueError("expected a network with a head")
    sizes = [len(question.classes) for question in card.questions]
    return [part.softmax(-1) for part in out.logits[0].split(sizes)]


def _shares(out: "ViTOutput") -> Any:
    import torch

    return torch.cat(_parts(out))


def _answers(out: "ViTOutput") -> list[dict[str, Any]]:
    """The likeliest classes of each question."""
    _, card = _network()
    found = []
    for question, shares in zip(card.questions, _parts(out), strict=True):
        best = shares.topk(BEST)
        pairs = zip(best.indices.tolist(), best.values.tolist(), strict=True)
        named = [{"name": question.classes[at], "share": share} for at, share in pairs]
        found.append({"title": question.title, "best": named})
    return found
