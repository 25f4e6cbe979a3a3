"""Pictures of shapes on textured ground: all of a kind but one.

Two questions: which kind is the odd one, and how many discs are there?
"""

from collections.abc import Callable, Sequence
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
MARGIN = 2  # pixels between two shapes, and to the border


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
COUNTS = tuple(map(str, range(len(NAMES))))  # as many as there are kinds: both fit one head


@dataclass(frozen=True)
class Shape:
    """One shape.

    Attributes:
        kind: one of `NAMES`.
        row: of its middle, in pixels.
        col: of its middle.
        radius: in pixels.
        turn: in radians.
        colour: red, green and blue, 0 to 1.
    """

    kind: str
    row: float
    col: float
    radius: float
    turn: float
    colour: tuple[float, float, float]

    def inside(self) -> Float[Tensor, "row col"]:
        """How much of every pixel it covers, 0 to 1."""
        at = torch.arange(SIDE) + 0.5
        y, x = (at[:, None] - self.row) / self.radius, (at[None] - self.col) / self.radius
        across = x * cos(self.turn) + y * sin(self.turn)
        along = y * cos(self.turn) - x * sin(self.turn)
        return (0.5 - KINDS[self.kind](across, along) * self.radius).clamp(0, 1)


@dataclass(frozen=True)
class Scene:
    """A picture's contents.

    Attributes:
        shapes: all of them; the odd one first.
        ground: its colour.
        seed: of its texture.
    """

    shapes: tuple[Shape, ...]
    ground: tuple[float, float, float]
    seed: int

    @property
    def discs(self) -> int:
        return sum(shape.kind == "disc" for shape in self.shapes)

    def pixels(self) -> UInt8[Tensor, "channel row col"]:
        """The picture."""
        dice = torch.Generator().manual_seed(self.seed)
        picture = torch.tensor(self.ground)[:, None, None].expand(3, SIDE, SIDE)
        for cell, strength in ((16, 0.12), (4, 0.1), (1, 0.06)):
            noise = torch.rand(1, 1, SIDE // cell, SIDE // cell, generator=dice) - 0.5
            smooth: Any = {} if cell == 1 else {"mode": "bilinear", "align_corners": False}
            picture = picture + strength * F.interpolate(noise, size=(SIDE, SIDE), **smooth)[0]
        for shape in self.shapes:
            cover = shape.inside()
            picture = picture * (1 - cover) + torch.tensor(shape.colour)[:, None, None] * cover
        return (picture.clamp(0, 1) * 255).round().to(torch.uint8)

    def patches(self, shape: Shape, patch: int) -> Bool[Tensor, " patch"]:
        """The patches that a shape covers to an eighth or more, row by row."""
        return F.avg_pool2d(shape.inside()[None], patch)[0].flatten() >= 1 / 8


@dataclass(frozen=True)
class Shapes:
    """Scenes, drawn by chance.

    Attributes:
        fewest: how few shapes.
        most: how many; at most as many discs can be counted as there are `COUNTS`.
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
        ground = (dice.uniform(0.3, 0.7), dice.uniform(0.3, 0.7), dice.uniform(0.3, 0.7))
        shapes: list[Shape] = []
        wanted = dice.randint(self.fewest, self.most)
        while len(shapes) < wanted:
            radius = dice.uniform(7, 9.5)
            row, col = (dice.uniform(radius + MARGIN, SIDE - radius - MARGIN) for _ in "rc")
            free = all(
                (s.row - row) ** 2 + (s.col - col) ** 2 > (s.radius + radius + MARGIN) ** 2
                for s in shapes
            )
            if free:
                kind = others if shapes else odd
                turn = dice.uniform(0, 2 * pi)
                shapes.append(Shape(kind, row, col, radius, turn, _colour(dice, ground)))
        return Scene(tuple(shapes), ground, dice.randrange(2**31))

    def key(self, item: Scene) -> str:
        return repr(item.shapes)

    def batch(self, items: Sequence[Scene]) -> Batch:
        pixels = torch.stack([item.pixels() for item in items])
        answers = [(NAMES.index(item.shapes[0].kind), item.discs) for item in items]
        return Batch({"pixels": normalised(pixels)}, torch.tensor(answers))


def normalised(pixels: UInt8[Tensor, "batch c row col"]) -> Float[Tensor, "batch c row col"]:
    """Values from −1 to 1, which is how a ViT of ours wants its images."""
    return pixels.float() / 127.5 - 1


def _colour(dice: Random, ground: tuple[float, float, float]) -> tuple[float, float, float]:
    """A colour that stands out from the ground."""
    while True:
        colour = dice.random(), dice.random(), dice.random()
        if sum((a - b) ** 2 for a, b in zip(colour, ground, strict=True)) > 0.3:
            return colour
