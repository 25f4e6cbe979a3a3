"""A figure as a list of shapes: rectangles, lines, text, pixels. Lengths are points (1/72 inch).

The origin is the upper left corner; y grows downwards. Later items cover earlier ones.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

Anchor = Literal["start", "middle", "end"]
Box = tuple[float, float, float, float]  # x, y, width, height
Segment = tuple[float, float, float, float]  # x and y of both ends


@dataclass(frozen=True)
class Fill:
    """Rectangles of one colour."""

    boxes: tuple[Box, ...]
    colour: str
    opacity: float = 1.0


@dataclass(frozen=True)
class Stroke:
    """Line segments of one colour and width."""

    segments: tuple[Segment, ...]
    colour: str
    width: float
    opacity: float = 1.0


@dataclass(frozen=True)
class Text:
    """One line of text; (x, y) is on its baseline, at its anchor.

    Attributes:
        angle: degrees, clockwise, about (x, y).
    """

    x: float
    y: float
    text: str
    size: float
    colour: str
    anchor: Anchor = "start"
    angle: float = 0.0


@dataclass(frozen=True, eq=False)
class Raster:
    """Pixels, uint8 "row col 3", scaled to a rectangle without smoothing."""

    box: Box
    pixels: np.ndarray


Item = Fill | Stroke | Text | Raster


@dataclass(frozen=True)
class Scene:
    """A figure.

    Attributes:
        width: in points.
        height: in points.
        items: in the order in which they are drawn.
        title: of the figure, also in the file's metadata.
        description: what the figure shows, also in the file's metadata.
        software: what made it.
        background: colour under everything.
    """

    width: float
    height: float
    items: tuple[Item, ...]
    title: str
    description: str
    software: str
    background: str


def frame(box: Box, colour: str, width: float = 0.5) -> Stroke:
    """The outline of a rectangle."""
    x, y, wide, high = box
    left, right, top, bottom = x, x + wide, y, y + high
    segments = (
        (left, top, right, top),
        (right, top, right, bottom),
        (right, bottom, left, bottom),
        (left, bottom, left, top),
    )
    return Stroke(segments, colour, width)


def enlarged(raster: Raster, per_inch: float = 216) -> np.ndarray:
    """The pixels, each repeated so that viewers which smooth images keep cells sharp."""
    rows, cols = raster.pixels.shape[:2]
    _, _, width, height = raster.box
    factor = max(1, round(max(width / cols, height / rows) * per_inch / 72))
    return raster.pixels.repeat(factor, axis=0).repeat(factor, axis=1)
