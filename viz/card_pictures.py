"""Small pictures without words, light and dark: a head, every head, a photo, crossing lines."""

import numpy as np

from viz.colours import Scale
from viz.heatmap import max_pool
from viz.paper import Draw, Page, picture
from viz.parts import names_above, names_beside
from viz.theme import COLOURS, Mode

SIDE = 72.0  # points
LEVELS = 32  # colours of a picture's ramp: a file of a few kilobytes
FRAMES = 24  # cells along a side, into which frames are pooled
GAP = 1.0  # between the heads of an atlas
LEAST = 0.04  # weight of a line that is drawn
WIDE, HIGH = 900.0, 472.5  # of the picture of a link


def head(weights: np.ndarray, mode: Mode) -> bytes:
    """One head: rows attend, columns are attended to."""
    return _square(mode, lambda page: page.image(0, 0, SIDE, SIDE, _colours(weights, mode)))


def over_time(weights: np.ndarray, mode: Mode) -> bytes:
    """A head that looks at sound: tokens attend, frames are attended to; up to its own largest."""
    cells = max_pool(weights, FRAMES, FRAMES)
    return head(cells / cells.max(), mode)


def every_head(maps: np.ndarray, mode: Mode) -> bytes:
    """The heads of all layers, "layer head query key", one row a layer."""
    layers, heads = maps.shape[:2]
    wide, high = (SIDE + GAP) / heads, (SIDE + GAP) / layers

    def draw(page: Page) -> None:
        for layer, head in np.ndindex(layers, heads):
            pixels = _colours(maps[layer, head], mode)
            page.image(head * wide, layer * high, wide - GAP, high - GAP, pixels)

    return _square(mode, draw)


def over_picture(pixels: np.ndarray, weights: np.ndarray, mode: Mode) -> bytes:
    """A photo, uint8 "row col 3", bright where its patches "row col" have weight."""
    high, wide = pixels.shape[:2]
    rows, cols = weights.shape
    share = np.sqrt(weights / weights.max())
    spread = share[np.ix_(np.arange(high) * rows // high, np.arange(wide) * cols // wide)]
    lit = np.rint(pixels * (0.25 + 0.75 * spread[..., None])).astype(np.uint8)
    return _square(mode, lambda page: page.image(0, 0, SIDE, SIDE, lit))


def crossing(weights: np.ndarray, mode: Mode) -> bytes:
    """Lines from the tokens above, columns, to those below, rows, as opaque as their weights."""
    rows, cols = weights.shape
    ink, top, bottom = COLOURS[mode], 8.0, SIDE - 8.0
    below, above = (SIDE * (np.arange(count) + 0.5) / count for count in (rows, cols))

    def draw(page: Page) -> None:
        for query, key in np.argwhere(weights > LEAST).tolist():
            line = np.array([[above[key], top, below[query], bottom]])
            page.strokes(line, ink.primary, 1.6, float(weights[query, key]))
        for places, y in ((above, top), (below, bottom)):
            for x in places:
                page.box(x - 1.5, y - 1.5, 3, 3, facecolor=ink.text, linewidth=0)

    return _square(mode, draw)


def of_link(weights: np.ndarray, labels: list[str], name: str, lines: list[str]) -> bytes:
    """The picture of a link: a head with its tokens, beside a name and a few lines."""
    ink = COLOURS["light"]
    side, x, y = 300.0, 560.0, 130.0
    pitch = side / len(labels)

    def draw(page: Page) -> None:
        page.text(48, 170, name, 54, ink.primary)
        for i, line in enumerate(lines):
            page.text(48, 224 + 32 * i, line, 21)
        page.image(x, y, side, side, _colours(weights, "light"))
        page.box(x, y, side, side)
        names_beside(page, labels, x - 6, y, pitch, most=110.0)
        names_above(page, labels, x, y, pitch)

    return picture(draw, WIDE, HIGH, ink.background)


def _square(mode: Mode, draw: Draw) -> bytes:
    return picture(draw, SIDE, SIDE, COLOURS[mode].background)


def _colours(weights: np.ndarray, mode: Mode) -> np.ndarray:
    """The colour of each weight on the square-root scale from 0 to 1."""
    scale, step = Scale("root", 0, 1, "", mode), 255 / (LEVELS - 1)
    level = np.rint(np.rint(scale.places(weights) * (LEVELS - 1)) * step)
    return scale.ramp[level.astype(int)]
