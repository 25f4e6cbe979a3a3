"""The odd-one-out task: images of shapes on a textured background, one of a different kind.

Two questions: which kind is the odd one, and how many discs are there? Each shape has its own cell
of an invisible 4 × 4 grid, at a random offset from the centre.
"""

from collections.abc import Sequence
from colorsys import hsv_to_rgb
from dataclasses import dataclass
from math import cos, pi, sin
from random import Random
from typing import Any, ClassVar

import torch
import torch.nn.functional as F
from jaxtyping import Float, UInt8
from torch import Tensor

from train import drawing
from train.drawing import SIDE, Distance, Shape
from train.task import Batch

CELL = 16  # side of a cell in pixels
MARGIN = 1.4  # pixels between the circumcircle of a shape and the edge of its cell


def _triangle(x: Tensor, y: Tensor) -> Tensor:
    sides = [x * cos(a) + y * sin(a) for a in (pi / 2, pi * 7 / 6, pi * 11 / 6)]
    return torch.stack(sides).amax(0) - 0.5


def _cross(x: Tensor, y: Tensor) -> Tensor:
    thin, wide = torch.minimum(x.abs(), y.abs()), torch.maximum(x.abs(), y.abs())
    return torch.maximum(thin - 0.28, wide - 0.95)


KINDS: dict[str, Distance] = {
    "disc": lambda x, y: torch.hypot(x, y) - 0.9,
    "square": lambda x, y: torch.maximum(x.abs(), y.abs()) - 0.75,
    "triangle": _triangle,
    "cross": _cross,
    "ring": drawing.ring,
    "bar": lambda x, y: torch.maximum(x.abs() - 1, y.abs() - 0.3),
}
NAMES = tuple(KINDS)
COUNTS = tuple(map(str, range(len(NAMES))))  # as many as kinds: both questions fit one head


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


@dataclass(frozen=True)
class Shapes:
    """Random scenes of 3 to 6 shapes."""

    questions: ClassVar = {
        "Which shape is the odd one out?": NAMES,
        "How many discs are there?": COUNTS,
    }

    def draw(self, dice: Random) -> Scene:
        odd, others = dice.sample(NAMES, 2)
        ground = hsv_to_rgb(dice.random(), dice.uniform(0.2, 0.6), dice.uniform(0.15, 0.3))
        places = _places(dice, dice.randint(3, 6))
        shapes = tuple(
            Shape(kind, *place, dice.uniform(-0.25, 0.25), _colour(dice))
            for kind, place in zip([odd] + [others] * len(places), places, strict=False)
        )
        return Scene(shapes, ground, dice.randrange(2**31))

    def key(self, item: Scene) -> str:
        return repr(item.shapes)

    def batch(self, items: Sequence[Scene]) -> Batch:
        answers = [
            (NAMES.index(item.shapes[0].kind), sum(shape.kind == "disc" for shape in item.shapes))
            for item in items
        ]
        return Batch({"pixels": drawing.normalised(self.pictures(items))}, torch.tensor(answers))

    def pictures(self, items: Sequence[Scene]) -> UInt8[Tensor, "batch channel row col"]:
        """The images of some scenes."""
        images = torch.tensor([item.ground for item in items])[..., None, None] + _texture(items)
        covers = iter(
            drawing.covered(
                drawing.distances(KINDS, [shape for item in items for shape in item.shapes])
            )
        )
        for image, item in zip(images, items, strict=True):
            for shape in item.shapes:
                image += (torch.tensor(shape.colour)[:, None, None] - image) * next(covers)
        return drawing.in_bytes(images)


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
