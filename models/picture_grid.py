"""Where the tokens of an axis lie on the pictures of an input."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from jaxtyping import Int
from torch import Tensor


class Box(NamedTuple):
    """An area of a picture, in shares of its width and height.

    It reaches beyond 0 to 1 where the model sees a margin around the picture.
    """

    left: float = 0.0
    top: float = 0.0
    right: float = 1.0
    bottom: float = 1.0

    def cell(self, row: int, col: int, rows: int, cols: int) -> "Box":
        """One cell of a grid over the area."""
        wide, high = (self.right - self.left) / cols, (self.bottom - self.top) / rows
        left, top = self.left + col * wide, self.top + row * high
        return Box(left, top, left + wide, top + high)

    def inside(self, outer: "Box") -> "Box":
        """The area, where it was stated in shares of another one, in shares of the picture."""
        wide, high = outer.right - outer.left, outer.bottom - outer.top
        return Box(
            outer.left + self.left * wide,
            outer.top + self.top * high,
            outer.left + self.right * wide,
            outer.top + self.bottom * high,
        )

    def pixels(self, rows: int, cols: int) -> tuple[slice, slice]:
        """The rows and columns of pixels in the area, of a picture of this size."""
        down, across = (
            slice(max(0, round(start * count)), min(count, round(stop * count)))
            for start, stop, count in (
                (self.top, self.bottom, rows),
                (self.left, self.right, cols),
            )
        )
        return down, across


WHOLE = Box()


def cells_box(
    cells: tuple[int, int], side: tuple[int, int], pixels: tuple[int, int], first: float = 0.0
) -> Box:
    """The area that a grid of cells covers, which may be less than the picture, or more.

    Args:
        cells: rows and columns of them.
        side: of a cell, in rows and columns of pixels.
        pixels: rows and columns of the picture.
        first: pixel at which the first cell begins, in both directions.
    """
    (rows, cols), (high, wide), (down, across) = cells, side, pixels
    right, bottom = (first + cols * wide) / across, (first + rows * high) / down
    return Box(first / across, first / down, right, bottom)


def centred(side: int) -> float:
    """The pixel at which a cell of this side begins whose middle is that of the first pixel."""
    return (1 - side) / 2


@dataclass(frozen=True)
class Part:
    """What the vision tower sees at once: a picture or a tile of it.

    Attributes:
        picture: which picture.
        box: the area of it.
        rows: of pixels.
        cols: of pixels.
        tile: which tile, counted from 1; 0 for the picture as a whole.
        real: False for a tile that only fills up a batch.
    """

    picture: int
    box: Box
    rows: int
    cols: int
    tile: int = 0
    real: bool = True

    @property
    def name(self) -> str:
        return f"tile {self.tile}" if self.tile else ""


@dataclass(frozen=True, eq=False)
class PictureGrid:
    """A grid of tokens over a picture, or over a part of one.

    Attributes:
        picture: which of the input's pictures, counted from 0; a video counts as one.
        places: the token of each cell, counted among an item's own tokens.
        box: the area of the picture that the grid covers.
        name: of the part, such as "tile 2"; "" for the picture as a whole.
        frames: of a video, those that the tokens are of.
    """

    picture: int
    places: Int[Tensor, "row col"]
    box: Box = WHOLE
    name: str = ""
    frames: tuple[int, ...] = ()

    @property
    def rows(self) -> int:
        return self.places.shape[0]

    @property
    def cols(self) -> int:
        return self.places.shape[1]

    def cell(self, row: int, col: int) -> Box:
        """The area of one cell."""
        return self.box.cell(row, col, self.rows, self.cols)

    def within(self, area: Box) -> list[int]:
        """The tokens of the cells whose middle lies in an area of the picture."""
        places = []
        for row in range(self.rows):
            for col in range(self.cols):
                left, top, right, bottom = self.cell(row, col)
                across = area.left <= (left + right) / 2 < area.right
                if across and area.top <= (top + bottom) / 2 < area.bottom:
                    places.append(int(self.places[row, col]))
        return places


def tokens_of(grids: Sequence[PictureGrid]) -> list[int]:
    """The tokens of all cells of some grids, in order."""
    return sorted({place for grid in grids for place in grid.places.flatten().tolist()})


def row_by_row(rows: int, cols: int, first: int = 0) -> Int[Tensor, "row col"]:
    """Places of a grid whose tokens lie row by row."""
    return first + torch.arange(rows * cols).view(rows, cols)


def frame_name(frames: Sequence[int]) -> str:
    """Of frames counted from 0, such as "frames 3 and 4"."""
    numbers = [str(frame + 1) for frame in frames]
    *most, last = numbers
    return f"frames {', '.join(most)} and {last}" if most else f"frame {last}"
