"""Small pictures without words, light and dark: a head, every head, a photo, crossing lines."""

import numpy as np

from viz.drawing import parts
from viz.drawing.scene import Fill, Item, Raster, Scene, Stroke, Text, frame
from viz.heatmap import max_pool
from viz.theme import COLOURS, Mode, sequential

SIDE = 72.0  # points
DPI = 96.0
LEVELS = 32  # colours of a picture's ramp: a file of a few kilobytes
FRAMES = 24  # cells along a side, into which frames are pooled
GAP = 1.0  # between the heads of an atlas
LEAST = 0.04  # weight of a line that is drawn
ABOUT = "Drawn from the weights of the model"
WIDE, HIGH = 900.0, 472.5  # of the picture of a link


def head(weights: np.ndarray, mode: Mode) -> Scene:
    """One head: rows attend, columns are attended to."""
    return _scene([Raster((0, 0, SIDE, SIDE), _colours(weights, mode))], mode)


def over_time(weights: np.ndarray, mode: Mode) -> Scene:
    """A head that looks at sound: tokens attend, frames are attended to; up to its own largest."""
    cells = max_pool(weights, FRAMES, FRAMES)
    return head(cells / cells.max(), mode)


def every_head(maps: np.ndarray, mode: Mode) -> Scene:
    """The heads of all layers, "layer head query key", one row a layer."""
    layers, heads = maps.shape[:2]
    wide, high = (SIDE + GAP) / heads, (SIDE + GAP) / layers
    return _scene(
        [
            Raster(
                (head * wide, layer * high, wide - GAP, high - GAP),
                _colours(maps[layer, head], mode),
            )
            for layer in range(layers)
            for head in range(heads)
        ],
        mode,
    )


def over_picture(pixels: np.ndarray, weights: np.ndarray, mode: Mode) -> Scene:
    """A photo, uint8 "row col 3", bright where its patches "row col" have weight."""
    high, wide = pixels.shape[:2]
    rows, cols = weights.shape
    share = np.sqrt(weights / weights.max())
    spread = share[np.ix_(np.arange(high) * rows // high, np.arange(wide) * cols // wide)]
    lit = np.rint(pixels * (0.25 + 0.75 * spread[..., None])).astype(np.uint8)
    return _scene([Raster((0, 0, SIDE, SIDE), lit)], mode)


def crossing(weights: np.ndarray, mode: Mode) -> Scene:
    """Lines from the tokens above, columns, to those below, rows, as opaque as their weights."""
    rows, cols = weights.shape
    ink, top, bottom = COLOURS[mode], 8.0, SIDE - 8.0
    places = [
        [(SIDE * (i + 0.5) / count, y) for i in range(count)]
        for count, y in ((cols, top), (rows, bottom))
    ]
    items: list[Item] = [
        Stroke((places[0][key] + places[1][query],), ink.primary, 1.6, float(weights[query, key]))
        for query, key in np.argwhere(weights > LEAST).tolist()
    ]
    dots = tuple((x - 1.5, y - 1.5, 3.0, 3.0) for place in places for x, y in place)
    return _scene([*items, Fill(dots, ink.text)], mode)


def of_link(weights: np.ndarray, labels: list[str], name: str, lines: list[str]) -> Scene:
    """The picture of a link: a head with its tokens, beside a name and a few lines."""
    ink = COLOURS["light"]
    side, x, y = 300.0, 560.0, 130.0
    pitch = side / len(labels)
    items: list[Item] = [
        Text(48, 170, name, 54, ink.primary, bold=True),
        *(Text(48, 224 + 32 * i, line, 21, ink.text) for i, line in enumerate(lines)),
        Raster((x, y, side, side), _colours(weights, "light")),
        frame((x, y, side, side), ink.line),
        *parts.names_beside(labels, x - 6, y, pitch, 110),
        *parts.names_above(labels, x, y, pitch, 110),
    ]
    about = " ".join([name, *lines])
    return Scene(WIDE, HIGH, tuple(items), name, about, ABOUT, ink.background)


def _scene(items: list[Item], mode: Mode) -> Scene:
    return Scene(SIDE, SIDE, tuple(items), "", "", ABOUT, COLOURS[mode].background)


def _colours(weights: np.ndarray, mode: Mode) -> np.ndarray:
    """The colour of each weight on the square-root scale from 0 to 1."""
    step = 255 / (LEVELS - 1)
    level = np.rint(np.rint(np.sqrt(weights.clip(0, 1)) * (LEVELS - 1)) * step)
    return sequential(mode)[level.astype(int)]
