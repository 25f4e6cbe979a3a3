"""A figure as a list of shapes: rectangles, lines, text, pixels. Lengths are points.

A point is 1/72 inch. The origin is the upper left corner; y grows downwards. Later items cover
earlier ones.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

Anchor = Literal["start", "middle", "end"]
Box = tuple[float, float, float, float]  # x, y, width, height
Segment = tuple[float, float, float, float]  # x and y of both ends
BOLD = 0.04


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
        bold: whether the letters have a stroke round them, `BOLD` of the size wide.
    """

    x: float
    y: float
    text: str
    size: float
    colour: str
    anchor: Anchor = "start"
    angle: float = 0.0
    bold: bool = False


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


def side_by_side(scenes: Sequence[Scene]) -> Scene:
    """Figures in a row, each with its own title and caption."""
    if not scenes:
        raise ValueError("expected at least one figure, received none")
    if len(scenes) == 1:
        return scenes[0]
    items: list[Item] = []
    x = 0.0
    for scene in scenes:
        items += [_moved(item, x) for item in scene.items]
        x += scene.width
    return replace(
        scenes[0],
        width=x,
        height=max(scene.height for scene in scenes),
        items=tuple(items),
        title=" | ".join(dict.fromkeys(scene.title for scene in scenes)),
        description=" | ".join(scene.description for scene in scenes),
    )


def _moved(item: Item, by: float) -> Item:
    """An item further to the right."""
    match item:
        case Fill(boxes):
            return replace(item, boxes=tuple((x + by, *rest) for x, *rest in boxes))
        case Stroke(segments):
            moved = tuple((x + by, y, to + by, end) for x, y, to, end in segments)
            return replace(item, segments=moved)
        case Text(x):
            return replace(item, x=x + by)
        case Raster((x, y, wide, high)):
            return replace(item, box=(x + by, y, wide, high))


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


PER_INCH = 216  # pixels of an image that is embedded, at least


def enlarged(raster: Raster) -> np.ndarray:
    """The pixels, each repeated so that viewers which smooth images keep cells sharp."""
    rows, cols = raster.pixels.shape[:2]
    _, _, width, height = raster.box
    factor = max(1, round(max(width / cols, height / rows) * PER_INCH / 72))
    return raster.pixels.repeat(factor, axis=0).repeat(factor, axis=1)
