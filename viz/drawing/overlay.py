"""Weights of a patch over the picture that was traced."""

import math
from collections.abc import Sequence

import numpy as np

from viz.drawing import parts
from viz.drawing.parts import BODY, INK, MARGIN, PAGE, Caption
from viz.drawing.scene import Item, Raster, Scene, Text, frame
from viz.theme import COLOURS, sequential

LARGEST = 300.0
BESIDE = 10.0


def overlay(
    maps: Sequence[tuple[str, np.ndarray]],
    picture: np.ndarray | None,
    chosen: tuple[int, int] | None,
    caption: Caption,
    *,
    top: float,
) -> Scene:
    """A picture for each head; the picture itself stands before them.

    Args:
        maps: name of each head, and its weights "row col" on the grid of patches.
        picture: uint8 "row col 3", what the network read; None draws the patches alone.
        chosen: row and column of the patch that attends or is attended to; None for another token.
        caption: title and caption.
        top: weight of the last colour.
    """
    if not maps:
        raise ValueError("expected at least one head to draw, received none")
    pictures = [(name, _veiled(weights, picture, top)) for name, weights in maps]
    if picture is not None:
        pictures.insert(0, ("the picture", picture))
    across = min(len(pictures), 2 if len(pictures) <= 4 else 4)
    rows, cols = maps[0][1].shape
    wide = min(LARGEST, (PAGE - 2 * MARGIN - (across - 1) * BESIDE) / across)
    high = wide * rows / cols
    y = parts.start_of(caption)
    items: list[Item] = []
    for i, (name, pixels) in enumerate(pictures):
        x = MARGIN + (i % across) * (wide + BESIDE)
        at = y + (i // across) * (high + BODY * 2) + BODY * 1.5
        items.append(Text(x, at - 3, name, BODY, INK.text))
        items.append(Raster((x, at, wide, high), pixels))
        if chosen is not None:
            row, col = chosen
            cell = (x + col * wide / cols, at + row * high / rows, wide / cols, high / rows)
            items += [frame(cell, "#ffffff", 1.8), frame(cell, COLOURS["light"].primary, 1.0)]
    y += math.ceil(len(pictures) / across) * (high + BODY * 2) + 4
    items += parts.colour_bar(MARGIN, y, top, parts.scale_words(top), sequential("dark"))
    return parts.finished(items, y + 20, caption)


def _veiled(weights: np.ndarray, picture: np.ndarray | None, top: float) -> np.ndarray:
    """The picture grey and dim, each patch in the colour of its weight."""
    rows, cols = weights.shape
    level = np.rint(255 * np.sqrt(np.clip(weights / top, 0, 1))).astype(int)
    colour = sequential("dark")[level].astype(float)
    if picture is None:
        return colour.astype(np.uint8)
    opacity = np.minimum(235, 70 + level * 230 // 256)[..., None] / 255
    high, wide = picture.shape[:2]
    at = np.ix_(np.arange(high) * rows // high, np.arange(wide) * cols // wide)
    grey = picture @ np.array([0.299, 0.587, 0.114])
    dim = (24 + 0.7 * grey)[..., None]
    return np.rint(dim * (1 - opacity[at]) + colour[at] * opacity[at]).astype(np.uint8)
