"""Numbers over several pictures beside each other, each with its grids of tokens."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from viz.drawing.letters import fitted
from viz.drawing.overlay import Veil, veiled
from viz.drawing.parts import INK, MARGIN, PAGE, SMALL
from viz.drawing.scales import Scale
from viz.drawing.scene import Box, Item, Raster, Text, frame
from viz.theme import COLOURS

Sides = tuple[float, float, float, float]  # left, top, right, bottom in shares of a picture
WIDE = PAGE - 2 * MARGIN
LONGEST = 320.0  # side of a picture
BESIDE = 10.0
BLANK = 240  # pixels of the height of a picture that is not there
UNSEEN = 184  # opacity of the black over what the network does not see, of 255


@dataclass(frozen=True, eq=False)
class Sheet:
    """A picture with grids of numbers over it.

    Attributes:
        name: above it; "" for none.
        picture: uint8 "row col 3"; None draws the cells alone.
        grids: where each lies on the picture, and its numbers "row col".
        frames: areas that are outlined.
    """

    name: str
    picture: np.ndarray | None
    grids: Sequence[tuple[Sides, np.ndarray]]
    frames: Sequence[Sides] = ()


@dataclass(frozen=True, eq=False)
class Sheets:
    """Pictures on one scale of colours.

    Attributes:
        title: above them.
        sheets: the pictures.
        scale: of their numbers.
        veil: how the colours lie over them.
        strength: share of the colours' opacity that is left, 0 to 1.
    """

    title: str
    sheets: Sequence[Sheet]
    scale: Scale
    veil: Veil
    strength: float = 1.0


def drawn(panel: Sheets, y: float) -> tuple[list[Item], float]:
    """What is drawn from y on, and where it ends."""
    across = min(2, len(panel.sheets))
    room = min(LONGEST, (WIDE - BESIDE * (across - 1)) / across)
    items: list[Item] = []
    tallest = 0.0
    for i, sheet in enumerate(panel.sheets):
        if i and i % across == 0:
            y, tallest = y + tallest + BESIDE, 0.0
        pixels = _covered(sheet, panel)
        rows, cols = pixels.shape[:2]
        longer = max(rows, cols)
        wide, high = room * cols / longer, room * rows / longer
        x, top = MARGIN + (i % across) * (room + BESIDE), y
        if sheet.name:
            top += SMALL * 1.5
            items.append(Text(x, top - 3, fitted(sheet.name, SMALL, room), SMALL, INK.text))
        items.append(Raster((x, top, wide, high), pixels))
        for left, above, right, below in sheet.frames:
            corner = (x + left * wide, top + above * high)
            area: Box = (*corner, (right - left) * wide, (below - above) * high)
            items += [frame(area, "#ffffff", 1.8), frame(area, COLOURS["light"].primary, 1.0)]
        tallest = max(tallest, top + high - y)
    y += tallest + 6
    return [*items, *panel.scale.bar(MARGIN, y)], y + 18


def _covered(sheet: Sheet, panel: Sheets) -> np.ndarray:
    """The picture under the colours of its grids: uint8 "row col 3"; later grids cover earlier."""
    picture, signed = sheet.picture, panel.scale.kind == "signed"
    bare = picture is None
    if picture is None:
        picture = np.full((*_size(sheet.grids), 3), 255, np.uint8)
    high, wide = picture.shape[:2]
    layer = np.zeros((high, wide, 4), np.uint8)
    layer[..., 3] = 0 if bare else UNSEEN
    for sides, values in sheet.grids:
        left, top, right, bottom = sides
        rows, cols = values.shape
        down, across = _cells(top, bottom, rows, high), _cells(left, right, cols, wide)
        share = np.sqrt(np.abs(values) / (panel.scale.high or 1))
        opacity = (60 + 180 * share if signed else 140 + 90 * share) * panel.strength
        opacity = np.full_like(opacity, 255) if bare else np.rint(opacity)
        cells = np.concatenate([panel.scale.colours(values), opacity[..., None]], -1)
        seen = np.ix_(np.flatnonzero(down >= 0), np.flatnonzero(across >= 0))
        layer[seen] = cells[np.ix_(down[down >= 0], across[across >= 0])].astype(np.uint8)
    plain = signed or bare
    veil = replace(panel.veil, paint="patches", ground="grey" if plain else panel.veil.ground)
    return veiled(layer, picture, replace(veil, ground="colour") if bare else veil)


def _cells(start: float, stop: float, count: int, pixels: int) -> np.ndarray:
    """The cell that each pixel along a side lies in; −1 outside.

    Cells that begin before the picture are those of convolutions, of which the last reads its end.
    """
    middle = (np.arange(pixels) + 0.5) / pixels
    cell = np.floor((middle - start) / (stop - start) * count).astype(int)
    cell = np.minimum(cell, count - 1) if start < 0 else cell
    return np.where((cell >= 0) & (cell < count), cell, -1)


def _size(grids: Sequence[tuple[Sides, np.ndarray]]) -> tuple[int, int]:
    """Rows and columns of pixels on which the cells of the first grid are square."""
    (left, top, right, bottom), values = grids[0]
    shape = (values.shape[1] / (right - left)) / (values.shape[0] / (bottom - top))
    return BLANK, max(1, round(BLANK * shape))
