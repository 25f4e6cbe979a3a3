"""Numbers over pictures: what an answer says of them, and their figure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from viz.colours import Scale, veiled
from viz.views.answer import Answer

if TYPE_CHECKING:
    from viz.paper import Page

Sides = tuple[float, float, float, float]  # left, top, right and bottom in shares of a picture
WHOLE: Sides = (0, 0, 1, 1)
BLANK = 240  # pixels of the height of a picture that is not there
UNSEEN = 184  # opacity of the black over what the network does not see, of 255


class Sheet(NamedTuple):
    """A picture with grids of colours over it.

    Attributes:
        name: above it.
        picture: uint8 "row col 3"; None draws the cells alone.
        layers: colours of cells, uint8 "row col 4", and what each covers; later ones lie above.
        frames: areas that are outlined.
        crosses: areas that are crossed out.
        grey: whether the picture is grey and dim.
    """

    name: str
    picture: np.ndarray | None
    layers: Sequence[tuple[np.ndarray, Sides]] = ()
    frames: Sequence[Sides] = ()
    crosses: Sequence[Sides] = ()
    grey: bool = False

    @property
    def pixels(self) -> np.ndarray:
        """The picture under the cells: uint8 "row col 3"."""
        picture, bare = self.picture, self.picture is None
        if picture is None:  # so large that the cells of the first grid are square
            cells, (left, top, right, bottom) = self.layers[0]
            shape = (cells.shape[1] / (right - left)) / (cells.shape[0] / (bottom - top))
            picture = np.full((BLANK, max(1, round(BLANK * shape)), 3), 255, np.uint8)
        if not self.layers:
            return picture
        high, wide = picture.shape[:2]
        layer = np.zeros((high, wide, 4), np.uint8)
        layer[..., 3] = 0 if bare else UNSEEN
        for cells, (left, top, right, bottom) in self.layers:
            rows, cols = cells.shape[:2]
            down, across = _cells(top, bottom, rows, high), _cells(left, right, cols, wide)
            seen = np.ix_(np.flatnonzero(down >= 0), np.flatnonzero(across >= 0))
            layer[seen] = cells[np.ix_(down[down >= 0], across[across >= 0])]
            layer[(*seen, 3)] = 255 if bare else layer[(*seen, 3)]
        return veiled(layer, picture, grey=self.grey and not bare)


@dataclass(frozen=True, eq=False, kw_only=True)
class OverPictures(Answer):
    """Numbers over pictures: under each title some, and the scale of their colours."""

    groups: Sequence[tuple[str, Sequence[Sheet], Scale | None]]


def figure(answer: OverPictures, page: "Page") -> None:
    """The pictures below their titles."""
    from viz.parts import Picture, pictures

    for title, sheets, scale in answer.groups:
        if title:
            page.heading(title)
        pictures(
            page, [Picture(each.name, each.pixels, each.frames, each.crosses) for each in sheets]
        )
        if scale is not None:
            page.bar(scale)


def _cells(start: float, stop: float, count: int, pixels: int) -> np.ndarray:
    """The cell that each pixel along a side lies in; −1 outside.

    Cells that begin before the picture are those of convolutions, of which the last reads its end.
    """
    middle = (np.arange(pixels) + 0.5) / pixels
    cell = np.floor((middle - start) / (stop - start) * count).astype(int)
    cell = np.minimum(cell, count - 1) if start < 0 else cell
    return np.where((cell >= 0) & (cell < count), cell, -1)
