"""The odd-one-out task: images of shapes on a textured background, one of a different kind.

Two questions: which kind is the odd one, and how many discs are there? Each shape has its own cell
of an invisible 4 × 4 grid, at a random offset from the centre.
"""

from collections.abc import Callable, Sequence
from colorsys import hsv_to_rgb
from dataclasses import dataclass
from math import cos, pi, sin
from random import Random
from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, UInt8
from torch import Tensor

from train.task import Batch

SIDE = 64
CELL = 16  # side of a cell in pixels
MARGIN = 1.4  # pixels between the circumcircle of a shape and the edge of its cell
TURN = 0.25  # maximum rotation in radians, to either side
WINDOW = 18  # side in pixels of a window that fits the largest shape


def _disc(x: Tensor, y: Tensor) -> Tensor:
    return torch.hypot(x, y) - 0.9


def _square(x: Tensor, y: Tensor) -> Tensor:
    return torch.maximum(x.abs(), y.abs()) - 0.75


def _triangle(x: Tensor, y: Tensor) -> Tensor:
    sides = [x * cos(a) + y * sin(a) for a in (pi / 2, pi * 7 / 6, pi * 11 / 6)]
    return torch.stack(sides).amax(0) - 0.5


def _cross(x: Tensor, y: Tensor) -> Tensor:
    thin, wide = torch.minimum(x.abs(), y.abs()), torch.maximum(x.abs(), y.abs())
    return torch.maximum(thin - 0.28, wide - 0.95)


def _ring(x: Tensor, y: Tensor) -> Tensor:
    return (torch.hypot(x, y) - 0.7).abs() - 0.22


def _bar(x: Tensor, y: Tensor) -> Tensor:
    return torch.maximum(x.abs() - 1, y.abs() - 0.3)


KINDS: dict[str, Callable[[Tensor, Tensor], Tensor]] = {  # below 0 inside a shape of radius 1
    "disc": _disc,
    "square": _square,
    "triangle": _triangle,
    "cross": _cross,
    "ring": _ring,
    "bar": _bar,
}
NAMES = tuple(KINDS)
COUNTS = tuple(map(str, range(len(NAMES))))  # as many as kinds: both questions fit one head


@dataclass(frozen=True)
class Shape:
    """One shape.

    Attributes:
        kind: one of `NAMES`.
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

    def inside(self) -> Float[Tensor, "row col"]:
        """The coverage of every pixel, 0 to 1."""
        at = torch.arange(SIDE) + 0.5
        return _covers(self.kind, [self], (at - self.row)[None], (at - self.col)[None])[0]


@dataclass(frozen=True)
class Scene:
    """The contents of an image.

    Attributes:
        shapes: all shapes; the odd one first.
        ground: background colour.
        seed: of the background texture.
    """

    shapes: tuple[Shape, ...]
    ground: tuple[float, float, float]
    seed: int

    @property
    def discs(self) -> int:
        return sum(shape.kind == "disc" for shape in self.shapes)

    def pixels(self) -> UInt8[Tensor, "channel row col"]:
        """The image."""
        return render([self])[0]

    def patches(self, shape: Shape, patch: int) -> Bool[Tensor, " patch"]:
        """The patches of which a shape covers at least an eighth, row by row."""
        return F.avg_pool2d(shape.inside()[None], patch)[0].flatten() >= 1 / 8


@dataclass(frozen=True)
class Shapes:
    """Random scenes.

    Attributes:
        fewest: minimum number of shapes.
        most: maximum number of shapes, bounded by `COUNTS`.
    """

    fewest: int = 3
    most: int = 6

    def __post_init__(self) -> None:
        if not 3 <= self.fewest <= self.most <= len(COUNTS):
            raise ValueError(
                f"fewest, most: expected 3 to {len(COUNTS)} shapes, the odd one is not defined"
                f" among fewer, received {self.fewest} and {self.most}"
            )

    def draw(self, dice: Random) -> Scene:
        odd, others = dice.sample(NAMES, 2)
        ground = hsv_to_rgb(dice.random(), dice.uniform(0.2, 0.6), dice.uniform(0.15, 0.3))
        places = _places(dice, dice.randint(self.fewest, self.most))
        shapes = tuple(
            Shape(kind, *place, dice.uniform(-TURN, TURN), _colour(dice))
            for kind, place in zip([odd] + [others] * len(places), places, strict=False)
        )
        return Scene(shapes, ground, dice.randrange(2**31))

    def key(self, item: Scene) -> str:
        return repr(item.shapes)

    def batch(self, items: Sequence[Scene]) -> Batch:
        pixels = render(items)
        answers = [(NAMES.index(item.shapes[0].kind), item.discs) for item in items]
        return Batch({"pixels": normalised(pixels)}, torch.tensor(answers))


def render(scenes: Sequence[Scene]) -> UInt8[Tensor, "batch channel row col"]:
    """The images of some scenes."""
    pictures = torch.tensor([scene.ground for scene in scenes])[:, :, None, None] + _texture(scenes)
    placed = [(number, shape) for number, scene in enumerate(scenes) for shape in scene.shapes]
    for kind in NAMES:
        mine = [(number, shape) for number, shape in placed if shape.kind == kind]
        if not mine:
            continue
        shapes = [shape for _, shape in mine]
        corner = torch.tensor([_corner(shape) for shape in shapes])
        middle = torch.tensor([(shape.row, shape.col) for shape in shapes])
        away = (corner - middle)[..., None] + torch.arange(WINDOW) + 0.5
        covers = _covers(kind, shapes, away[:, 0], away[:, 1])
        for (number, shape), (row, col), cover in zip(mine, corner.tolist(), covers, strict=True):
            part = pictures[number, :, row : row + WINDOW, col : col + WINDOW]
            part += (torch.tensor(shape.colour)[:, None, None] - part) * cover
    return (pictures.clamp(0, 1) * 255).round().to(torch.uint8)


def _covers(kind: str, shapes: Sequence[Shape], rows: Tensor, cols: Tensor) -> Tensor:
    """Pixel coverage `shape row col` of shapes of one kind; pixels relative to their centres."""
    radius, turn = (torch.tensor([getattr(s, name) for s in shapes]) for name in ("radius", "turn"))
    radius, turn = radius[:, None, None], turn[:, None, None]
    y, x = rows[:, :, None] / radius, cols[:, None] / radius
    across = x * turn.cos() + y * turn.sin()
    along = y * turn.cos() - x * turn.sin()
    return (0.5 - KINDS[kind](across, along) * radius).clamp(0, 1)


def _corner(shape: Shape) -> tuple[int, int]:
    """Upper left corner of a window around the shape, within the image."""
    return (
        min(max(0, int(shape.row) - WINDOW // 2), SIDE - WINDOW),
        min(max(0, int(shape.col) - WINDOW // 2), SIDE - WINDOW),
    )


def _texture(scenes: Sequence[Scene]) -> Float[Tensor, "batch channel row col"]:
    """Noise at three scales, added to the background."""
    dice = [torch.Generator().manual_seed(scene.seed) for scene in scenes]
    texture = torch.zeros(len(scenes), 1, SIDE, SIDE)
    for cell, strength in ((16, 0.1), (4, 0.08), (1, 0.05)):
        side = SIDE // cell
        noise = torch.stack([torch.rand(1, side, side, generator=each) for each in dice]) - 0.5
        smooth: Any = {} if cell == 1 else {"mode": "bilinear", "align_corners": False}
        texture = texture + strength * F.interpolate(noise, size=(SIDE, SIDE), **smooth)
    return texture


def normalised(pixels: UInt8[Tensor, "batch c row col"]) -> Float[Tensor, "batch c row col"]:
    """Pixel values from −1 to 1, the normalisation of our ViT."""
    return pixels.float() / 127.5 - 1


def _places(dice: Random, count: int) -> list[tuple[float, float, float]]:
    """Row, column and radius of shapes, each in its own cell."""
    places = []
    for cell in dice.sample(range((SIDE // CELL) ** 2), count):
        radius = dice.uniform(5, 6.5)
        slack = CELL / 2 - MARGIN - radius
        middle = [(along + 0.5) * CELL for along in divmod(cell, SIDE // CELL)]
        row, col = (at + dice.uniform(-slack, slack) for at in middle)
        places.append((row, col, radius))
    return places


def _colour(dice: Random) -> tuple[float, float, float]:
    """A light colour of any hue: brighter than most backgrounds in each channel."""
    return hsv_to_rgb(dice.random(), dice.uniform(0.2, 0.65), dice.uniform(0.85, 1.0))
