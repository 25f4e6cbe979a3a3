"""The objects task: one drawn object on a crop of a photo. Which kind, and where?

Twelve kinds, tilted, in many sizes and colours, filled or hollow, each with a white rim, as a
sticker. A photo is divided into tiles, and every crop lies within one: the tiles of the held-out
items are never seen in training.
"""

from collections.abc import Callable, Sequence
from colorsys import hsv_to_rgb
from dataclasses import dataclass
from functools import cache, partial
from math import cos, pi, sin
from pathlib import Path
from random import Random

import numpy as np
import torch
import torch.nn.functional as F
from jaxtyping import Float, UInt8
from PIL import Image
from torch import Tensor

from train.shapes import normalised
from train.task import Batch

SIDE = 64
PATCH = 8
GRID = SIDE // PATCH
PHOTOS = Path(__file__).parents[1] / "viz" / "photos"
PHOTO_NAMES = ("china", "flower")
TILE = 106  # side of a tile in pixels of the photo
SMALLEST = 40  # side of the smallest crop
RADII = (12.0, 18.0)  # pixels
CUT = 0.7  # the centre is at least this many radii from the edges
LINE = 0.2  # line width of a hollow object, in radii
RIM = 1.8  # pixels
TURN = 0.5  # maximum rotation in radians, to either side
HOLLOW = 0.3  # share of hollow ones, among the kinds that can be
WINDOW = 44  # side in pixels of a window that fits the largest object

Distance = Callable[[Tensor, Tensor], Tensor]


def _polygon(corners: Sequence[tuple[float, float]], x: Tensor, y: Tensor) -> Tensor:
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


def _disc(x: Tensor, y: Tensor) -> Tensor:
    return torch.hypot(x, y) - 0.88


def _ring(x: Tensor, y: Tensor) -> Tensor:
    return (torch.hypot(x, y) - 0.7).abs() - 0.22


def _moon(x: Tensor, y: Tensor) -> Tensor:
    return torch.maximum(torch.hypot(x, y) - 0.95, 0.8 - torch.hypot(x - 0.5, y))


def _heart(x: Tensor, y: Tensor) -> Tensor:
    """A square on its corner with a half disc on each of the upper sides."""
    x, y = x.abs() / 1.7, 0.55 - y / 1.7  # the tip at 0, the sides of the square 1/√2
    lobe = torch.hypot(x - 0.25, y - 0.75) - 0.125**0.5
    side = (x + y).clamp(min=0) / 2
    notch = torch.minimum(torch.hypot(x, y - 1), torch.hypot(x - side, y - side))
    return 1.7 * torch.where(x + y > 1, lobe, notch * (x - y).sign())


def _around(radii: Sequence[float], count: int) -> list[tuple[float, float]]:
    """Corners around the centre, the first on top."""
    turns = [2 * pi * number / count - pi / 2 for number in range(count)]
    return [
        (radii[number % len(radii)] * cos(turn), radii[number % len(radii)] * sin(turn))
        for number, turn in enumerate(turns)
    ]


def _mirrored(right: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """A closed polygon from its right half, from top to bottom."""
    return [*right, *((-x, y) for x, y in reversed(right) if x)]


CORNERS: dict[str, Sequence[tuple[float, float]]] = {
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
KINDS: dict[str, Distance] = {  # below 0 inside an object of radius 1
    "disc": _disc,
    "ring": _ring,
    "moon": _moon,
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
        kind: one of `NAMES`.
        row: of its centre, in pixels of the image.
        col: of its centre, in pixels of the image.
        radius: in pixels.
        turn: rotation in radians.
        colour: red, green and blue, 0 to 1.
        hollow: whether only its outline is drawn.
        photo: one of `PHOTO_NAMES`.
        tile: row and column of the tile.
        crop: top, left and side of the crop, in pixels of the tile.
        flip: whether the crop is mirrored.
        gain: factor of each colour of the crop.
    """

    kind: str
    row: float
    col: float
    radius: float
    turn: float
    colour: tuple[float, float, float]
    hollow: bool
    photo: str
    tile: tuple[int, int]
    crop: tuple[float, float, float]
    flip: bool = False
    gain: tuple[float, float, float] = (1.0, 1.0, 1.0)

    @property
    def patch(self) -> tuple[int, int]:
        """Row and column of the patch that contains the centre."""
        return int(self.row // PATCH), int(self.col // PATCH)

    def pixels(self) -> UInt8[Tensor, "channel row col"]:
        """The image."""
        return render([self])[0]

    def patches(self) -> list[int]:
        """The patches of which the object covers at least an eighth, row by row."""
        covered = F.avg_pool2d(_covers([self])[0], PATCH)[0].flatten() >= 1 / 8
        return covered.nonzero()[:, 0].tolist()


@dataclass(frozen=True)
class Objects:
    """Random objects on random crops.

    Attributes:
        graded: what evaluations count: "which" (the kind), "where" (column and row, each at most
            one patch off), or "all", exactly.
    """

    graded: str = "all"

    def __post_init__(self) -> None:
        if self.graded not in ("which", "where", "all"):
            raise ValueError(
                f"graded: expected 'which', 'where' or 'all', received {self.graded!r}"
            )

    def draw(self, dice: Random) -> Composite:
        radius, kind = dice.uniform(*RADII), dice.choice(NAMES)
        margin = CUT * radius
        row, col = (dice.uniform(margin, SIDE - margin) for _ in "rc")
        colour = hsv_to_rgb(dice.random(), dice.uniform(0.5, 1.0), dice.uniform(0.2, 0.85))
        photo = dice.choice(PHOTO_NAMES)
        rows, cols = (length // TILE for length in photograph(photo).shape[1:])
        side = dice.uniform(SMALLEST, TILE)
        top, left = (dice.uniform(0, TILE - side) for _ in "tl")
        light = dice.uniform(0.7, 1.3)
        return Composite(
            kind,
            row,
            col,
            radius,
            dice.uniform(-TURN, TURN),
            colour,
            kind not in SOLID and dice.random() < HOLLOW,
            photo,
            (dice.randrange(rows), dice.randrange(cols)),
            (top, left, side),
            dice.random() < 0.5,
            (light * dice.uniform(0.8, 1.2), light * dice.uniform(0.8, 1.2), light),
        )

    def key(self, item: Composite) -> str:
        return f"{item.photo} {item.tile}"

    def batch(self, items: Sequence[Composite]) -> Batch:
        target = torch.tensor([(NAMES.index(item.kind), *reversed(item.patch)) for item in items])
        counted = {"which": [1, 0, 0], "where": [0, 1, 1], "all": [1, 1, 1]}[self.graded]
        return Batch(
            {"pixels": normalised(render(items))},
            target,
            None if self.graded == "all" else torch.tensor(counted).bool().expand(len(items), 3),
            classes=(len(NAMES), GRID, GRID),
            tolerance=int(self.graded == "where"),
        )


@cache
def photograph(name: str) -> Float[Tensor, "channel row col"]:
    """A photo, values from 0 to 1."""
    with Image.open(PHOTOS / f"{name}.jpg") as file:
        pixels = np.asarray(file.convert("RGB"), dtype=np.float32) / 255
    return torch.from_numpy(pixels).permute(2, 0, 1)


def render(items: Sequence[Composite]) -> UInt8[Tensor, "batch channel row col"]:
    """The images of some items."""
    fill, rim = _covers(items)
    colour = torch.tensor([item.colour for item in items])[:, :, None, None]
    pictures = _crops(items)
    pictures = pictures + (1 - pictures) * rim
    pictures = pictures + (colour - pictures) * fill
    return (pictures.clamp(0, 1) * 255).round().to(torch.uint8)


def _crops(items: Sequence[Composite]) -> Float[Tensor, "batch channel row col"]:
    """The backgrounds, at the size of the image."""
    images = torch.empty(len(items), 3, SIDE, SIDE)
    for name in PHOTO_NAMES:
        mine = [number for number, item in enumerate(items) if item.photo == name]
        if not mine:
            continue
        photo = photograph(name)
        change = torch.tensor([_window(items[number], photo.shape) for number in mine])
        at = F.affine_grid(change, [len(mine), 3, SIDE, SIDE], align_corners=False)
        crops = F.grid_sample(
            photo.expand(len(mine), -1, -1, -1), at, padding_mode="border", align_corners=False
        )
        images[mine] = crops
    return images * torch.tensor([item.gain for item in items])[:, :, None, None]


def _window(item: Composite, shape: Sequence[int]) -> list[list[float]]:
    """The affine matrix from the image to the photo, both from −1 to 1."""
    (top, left, side), (_, rows, cols) = item.crop, shape
    middle = item.tile[0] * TILE + top + side / 2, item.tile[1] * TILE + left + side / 2
    across = -side / cols if item.flip else side / cols
    return [
        [across, 0.0, 2 * middle[1] / cols - 1],
        [0.0, side / rows, 2 * middle[0] / rows - 1],
    ]


def _covers(
    items: Sequence[Composite],
) -> tuple[Float[Tensor, "batch 1 row col"], Float[Tensor, "batch 1 row col"]]:
    """How much of every pixel the object covers, without and with its rim, 0 to 1."""
    fields = ("row", "col", "radius", "turn", "hollow")
    placed = torch.tensor([[float(getattr(item, name)) for name in fields] for item in items])
    row, col, radius, turn, hollow = (placed[:, i, None, None] for i in range(len(fields)))
    near = torch.arange(WINDOW)
    rows, cols = ((c[:, 0, 0].int() - WINDOW // 2).clamp(0, SIDE - WINDOW) for c in (row, col))
    rows, cols = rows[:, None] + near, cols[:, None] + near
    y, x = (rows[:, :, None] + 0.5 - row) / radius, (cols[:, None] + 0.5 - col) / radius
    across, along = x * turn.cos() + y * turn.sin(), y * turn.cos() - x * turn.sin()
    distance = torch.empty(len(items), WINDOW, WINDOW)
    for kind in {item.kind for item in items}:
        mine = [number for number, item in enumerate(items) if item.kind == kind]
        distance[mine] = KINDS[kind](across[mine], along[mine])
    distance = radius * torch.where(hollow > 0, distance.abs() - LINE / 2, distance)
    covers = torch.zeros(2, len(items), 1, SIDE, SIDE)
    each = torch.arange(len(items))[:, None, None]
    for cover, grown in zip(covers, (0.5, 0.5 + RIM), strict=True):
        cover[each, 0, rows[:, :, None], cols[:, None]] = (grown - distance).clamp(0, 1)
    return covers[0], covers[1]
