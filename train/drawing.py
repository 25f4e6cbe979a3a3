"""Drawings of objects whose outlines are signed distances, and the normalisation of pictures."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float, UInt8
from torch import Tensor

SIDE = 64  # pixels of a picture

Distance = Callable[[Tensor, Tensor], Tensor]  # of x and y: below 0 inside an object of radius 1


@dataclass(frozen=True)
class Shape:
    """An object in a picture.

    Attributes:
        kind: a name of its outline.
        row: of its centre, in pixels.
        col: of its centre, in pixels.
        radius: in pixels.
        turn: rotation in radians.
        colour: red, green and blue, 0 to 1.
    """

    kind: str
    row: float
    col: float
    radius: float
    turn: float
    colour: tuple[float, float, float]


def ring(x: Tensor, y: Tensor) -> Tensor:
    return (torch.hypot(x, y) - 0.7).abs() - 0.22


def distances(
    kinds: Mapping[str, Distance], objects: Sequence[Shape]
) -> Float[Tensor, "object row col"]:
    """The distance of every pixel from the outline of each object, in pixels; below 0 inside."""
    places = torch.tensor([[each.row, each.col, each.radius, each.turn] for each in objects])
    row, col, radius, turn = places.T[..., None, None]
    at = torch.arange(SIDE) + 0.5
    y, x = (at[:, None] - row) / radius, (at - col) / radius
    across, along = x * turn.cos() + y * turn.sin(), y * turn.cos() - x * turn.sin()
    pictures = torch.empty(len(objects), SIDE, SIDE)
    for kind in {each.kind for each in objects}:
        mine = [number for number, each in enumerate(objects) if each.kind == kind]
        pictures[mine] = kinds[kind](across[mine], along[mine])
    return pictures * radius


def covered(distance: Tensor, rim: float = 0.0) -> Tensor:
    """The share of every pixel that lies inside, with a rim of so many pixels around it."""
    return (0.5 + rim - distance).clamp(0, 1)


def in_bytes(pixels: Float[Tensor, "..."]) -> UInt8[Tensor, "..."]:
    """Values from 0 to 1 as bytes."""
    return (pixels.clamp(0, 1) * 255).round().to(torch.uint8)


def normalised(pixels: UInt8[Tensor, "batch c row col"]) -> Float[Tensor, "batch c row col"]:
    """Pixel values from −1 to 1, the normalisation of our ViT."""
    return pixels.float() / 127.5 - 1
