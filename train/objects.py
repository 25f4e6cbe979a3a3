"""The objects task: one drawn object on a crop of a photo. Which kind, and where?

Twelve kinds, tilted, in many sizes and colours, filled or hollow, each with a white rim, as a
sticker. A photo is divided into tiles, and every crop lies within one: the tiles of the held-out
items are never seen in training.
"""

from collections.abc import Sequence
from colorsys import hsv_to_rgb
from dataclasses import dataclass
from functools import cache, partial
from math import cos, pi, sin
from pathlib import Path
from random import Random
from typing import ClassVar

import numpy as np
import torch
import torch.nn.functional as F
from jaxtyping import Float, UInt8
from PIL import Image
from torch import Tensor

from train import drawing
from train.drawing import SIDE, Distance, Shape
from train.task import Batch

PATCH = 8  # pixels
GRID = SIDE // PATCH
PHOTOS = Path(__file__).parents[1] / "viz" / "photos"
PHOTO_NAMES = ("china", "flower")
TILE = 106  # side of a tile in pixels of the photo
LINE = 0.2  # line width of a hollow object, in radii
RIM = 1.8  # pixels

Corners = Sequence[tuple[float, float]]


def _polygon(corners: Corners, x: Tensor, y: Tensor) -> Tensor:
    """Signed distance to a polygon: the nearest edge, negative inside by the even–odd rule."""
    nearest = torch.full_like(x, torch.inf)
    inside = torch.zeros_like(x, dtype=torch.bool)
    for (ax, ay), (bx, by) in zip(corners, [*corners[1:], corners[0]], strict=True):
        along = ((x - ax) * (bx - ax) + (y - ay) * (by - ay)) / ((bx - ax) ** 2 + (by - ay) ** 2)
        along = along.clamp(0, 1)
        off = torch.hypot(x - ax - along * (bx - ax), y - ay - along * (by - ay))
        nearest = torch.minimum(nearest, off)
        if ay != by:
            crosses = ((ay > y) != (by > y)) & (x < (bx - ax) * (y - ay) / (by - ay) + ax)
            inside = inside ^ crosses
    return torch.where(inside, -nearest, nearest)


def _heart(x: Tensor, y: Tensor) -> Tensor:
    """A square on its corner with a half disc on each of the upper sides."""
    x, y = x.abs() / 1.7, 0.55 - y / 1.7  # the tip at 0, the sides of the square 1/√2
    lobe = torch.hypot(x - 0.25, y - 0.75) - 0.125**0.5
    side = (x + y).clamp(min=0) / 2
    notch = torch.minimum(torch.hypot(x, y - 1), torch.hypot(x - side, y - side))
    return 1.7 * torch.where(x + y > 1, lobe, notch * (x - y).sign())


def _around(radii: Sequence[float], count: int) -> Corners:
    """Corners around the centre, the first on top."""
    turns = [2 * pi * number / count - pi / 2 for number in range(count)]
    lengths = [radii[number % len(radii)] for number in range(count)]
    return [(r * cos(turn), r * sin(turn)) for r, turn in zip(lengths, turns, strict=True)]


def _mirrored(right: Corners) -> Corners:
    """A closed polygon from its right half, from top to bottom."""
    return [*right, *((-x, y) for x, y in reversed(right) if x)]


CORNERS: dict[str, Corners] = {
    "square": [(0.75, -0.75), (0.75, 0.75), (-0.75, 0.75), (-0.75, -0.75)],
    "triangle": _around([1.0], 3),
    "hexagon": _around([0.95], 6),
    "star": _around([1.05, 0.45], 10),
    "cross": _mirrored(
        [(0.27, -0.95), (0.27, -0.27), (0.95, -0.27), (0.95, 0.27), (0.27, 0.27), (0.27, 0.95)]
    ),
    "bar": [(1.0, -0.3), (1.0, 0.3), (-1.0, 0.3), (-1.0, -0.3)],
    "arrow": _mirrored([(0.0, -1.0), (0.8, -0.1), (0.28, -0.1), (0.28, 0.95)]),
    "bolt": [(0.35, -1.0), (-0.6, 0.15), (-0.05, 0.15), (-0.35, 1.0), (0.6, -0.2), (0.05, -0.2)],
}
KINDS: dict[str, Distance] = {
    "disc": lambda x, y: torch.hypot(x, y) - 0.88,
    "ring": drawing.ring,
    "moon": lambda x, y: torch.maximum(torch.hypot(x, y) - 0.95, 0.8 - torch.hypot(x - 0.5, y)),
    "heart": _heart,
    **{name: partial(_polygon, corners) for name, corners in CORNERS.items()},
}
NAMES = tuple(KINDS)
SOLID = ("disc", "ring", "moon")  # never hollow: a hollow disc is a ring
PLACES = tuple(map(str, range(GRID)))  # as patches are counted


@dataclass(frozen=True)
class Composite:
    """An object on a crop of a photo.

    Attributes:
        shape: the object.
        hollow: whether only its outline is drawn.
        photo: one of `PHOTO_NAMES`.
        tile: row and column of the tile.
        crop: top, left and side of the crop, in pixels of the tile.
        flip: whether the crop is mirrored.
        gain: factor of each colour of the crop.
    """

    shape: Shape
    hollow: bool
    photo: str
    tile: tuple[int, int]
    crop: tuple[float, float, float]
    flip: bool = False
    gain: tuple[float, float, float] = (1.0, 1.0, 1.0)

    @property
    def patch(self) -> tuple[int, int]:
        """Row and column of the patch that contains the centre."""
        return int(self.shape.row // PATCH), int(self.shape.col // PATCH)


@dataclass(frozen=True)
class Objects:
    """Random objects on random crops.

    Attributes:
        graded: what evaluations count: "which" (the kind), "where" (column and row, each at most
            one patch off), or "all", exactly.
    """

    graded: str = "all"
    questions: ClassVar = {
        "Which object is it?": NAMES,
        "In which column?": PLACES,
        "In which row?": PLACES,
    }

    def draw(self, dice: Random) -> Composite:
        radius, kind = dice.uniform(12.0, 18.0), dice.choice(NAMES)
        margin = 0.7 * radius  # of the centre, from the edges
        row, col = (dice.uniform(margin, SIDE - margin) for _ in "rc")
        colour = hsv_to_rgb(dice.random(), dice.uniform(0.5, 1.0), dice.uniform(0.2, 0.85))
        photo = dice.choice(PHOTO_NAMES)
        rows, cols = (length // TILE for length in photograph(photo).shape[1:])
        side = dice.uniform(40, TILE)
        top, left = (dice.uniform(0, TILE - side) for _ in "tl")
        light = dice.uniform(0.7, 1.3)
        return Composite(
            Shape(kind, row, col, radius, dice.uniform(-0.5, 0.5), colour),
            kind not in SOLID and dice.random() < 0.3,
            photo,
            (dice.randrange(rows), dice.randrange(cols)),
            (top, left, side),
            dice.random() < 0.5,
            (light * dice.uniform(0.8, 1.2), light * dice.uniform(0.8, 1.2), light),
        )

    def key(self, item: Composite) -> str:
        return f"{item.photo} {item.tile}"

    def batch(self, items: Sequence[Composite]) -> Batch:
        target = [(NAMES.index(item.shape.kind), *reversed(item.patch)) for item in items]
        counted = {"which": [1, 0, 0], "where": [0, 1, 1], "all": [1, 1, 1]}[self.graded]
        return Batch(
            {"pixels": drawing.normalised(self.pictures(items))},
            torch.tensor(target),
            None if self.graded == "all" else torch.tensor(counted).bool().expand(len(items), 3),
            classes=(len(NAMES), GRID, GRID),
            tolerance=int(self.graded == "where"),
        )

    def pictures(self, items: Sequence[Composite]) -> UInt8[Tensor, "batch channel row col"]:
        """The images of some items."""
        distance = _distances(items)[:, None]
        colour = torch.tensor([item.shape.colour for item in items])[..., None, None]
        images = torch.stack([_crop(item) for item in items])
        images = images + (1 - images) * drawing.covered(distance, RIM)
        return drawing.in_bytes(images + (colour - images) * drawing.covered(distance))


@cache
def photograph(name: str) -> Float[Tensor, "channel row col"]:
    """A photo, values from 0 to 1."""
    with Image.open(PHOTOS / f"{name}.jpg") as file:
        pixels = np.asarray(file.convert("RGB"), dtype=np.float32) / 255
    return torch.from_numpy(pixels).permute(2, 0, 1)


def _crop(item: Composite) -> Float[Tensor, "channel row col"]:
    """The background, at the size of the image."""
    photo, (top, left, side) = photograph(item.photo), item.crop
    _, rows, cols = photo.shape
    middle = item.tile[0] * TILE + top + side / 2, item.tile[1] * TILE + left + side / 2
    across = -side / cols if item.flip else side / cols
    window = [
        [across, 0.0, 2 * middle[1] / cols - 1],
        [0.0, side / rows, 2 * middle[0] / rows - 1],
    ]
    at = F.affine_grid(torch.tensor([window]), [1, 3, SIDE, SIDE], align_corners=False)
    crop = F.grid_sample(photo[None], at, padding_mode="border", align_corners=False)[0]
    return crop * torch.tensor(item.gain)[:, None, None]


def _distances(items: Sequence[Composite]) -> Float[Tensor, "batch row col"]:
    """The distance of every pixel from the object, or from the line around a hollow one."""
    distance = drawing.distances(KINDS, [item.shape for item in items])
    width = LINE / 2 * torch.tensor([item.shape.radius for item in items])[:, None, None]
    hollow = torch.tensor([item.hollow for item in items])[:, None, None]
    return torch.where(hollow, distance.abs() - width, distance)
