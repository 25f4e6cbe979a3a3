"""Weights of a patch over the picture that was traced."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PIL import Image

from viz.drawing import parts
from viz.drawing.parts import BODY, INK, MARGIN, PAGE, Caption
from viz.drawing.scales import Scale
from viz.drawing.scene import Box, Item, Raster, Scene, Segment, Stroke, Text, frame
from viz.theme import COLOURS, sequential

LARGEST = 300.0
BESIDE = 10.0
SHADE = 200  # opacity of the black over patches outside a mask, of 255
PICTURE = "the picture"


@dataclass(frozen=True)
class Veil:
    """How weights lie over the picture.

    Attributes:
        ground: the picture in "colour", or "grey" and dim.
        paint: "patches", "smooth" for colours that run into each other, or "mask" for darkness on
            all but the strongest patches.
        opacity: of the colours, in percent.
    """

    ground: str = "grey"
    paint: str = "patches"
    opacity: int = 100


def overlay(
    maps: Sequence[tuple[str, np.ndarray]],
    picture: np.ndarray | None,
    chosen: tuple[int, int] | None,
    caption: Caption,
    *,
    tops: Sequence[float],
    scale: str,
    crosses: Sequence[tuple[int, int]] = (),
    veil: Veil = Veil(),
    masks: Sequence[np.ndarray] = (),
) -> Scene:
    """A picture for each head; the picture itself stands before them.

    Args:
        maps: name of each head, and its weights "row col" on the grid of patches.
        picture: uint8 "row col 3", what the network read; None draws the patches alone.
        chosen: row and column of the patch that attends or is attended to; None for another token.
        caption: title and caption.
        tops: of each head, the weight of the last colour.
        scale: "fixed", "own", "layer" or "log", as of a request, `TO_PERCENTILE`, or "signed" for
            changes.
        crosses: rows and columns of patches whose weights are hidden, crossed out.
        veil: how the weights are painted.
        masks: of each head, which patches stay bright where a "mask" is painted.
    """
    if not maps:
        raise ValueError("expected at least one head to draw, received none")
    if veil.paint == "mask":
        layers = [_shade(mask) for mask in masks]
    elif scale == "signed":
        layers = [
            signed_colours(values, changes_up_to(top))
            for (_, values), top in zip(maps, tops, strict=True)
        ]
    else:
        layers = [
            _colours(weights, top, scale == "log")
            for (_, weights), top in zip(maps, tops, strict=True)
        ]
    pictures = [
        (name, veiled(layer, picture, veil)) for (name, _), layer in zip(maps, layers, strict=True)
    ]
    if picture is not None:
        pictures.insert(0, (PICTURE, picture))
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
        if name != PICTURE:
            items += _crossed(crosses, (x, at, wide / cols, high / rows))
        if chosen is not None:
            row, col = chosen
            cell = (x + col * wide / cols, at + row * high / rows, wide / cols, high / rows)
            items += [frame(cell, "#ffffff", 1.8), frame(cell, COLOURS["light"].primary, 1.0)]
    y += math.ceil(len(pictures) / across) * (high + BODY * 2) + 4
    if scale == "signed":
        items += changes_up_to(tops[0]).bar(MARGIN, y)
        y += 20
    elif veil.paint != "mask":
        one = len({*tops}) == 1  # else each head has a scale of its own
        words = WORDS[scale] if one else "share of each head’s largest weight, square root"
        log = scale == "log"
        items += parts.colour_bar(MARGIN, y, tops[0] if one else 1.0, words, RAMP, log=log)
        y += 20
    return parts.finished(items, y, caption)


def _crossed(places: Sequence[tuple[int, int]], cell: Box) -> list[Item]:
    """A cross over each of some patches; `cell` is the first patch of all."""
    x, y, wide, high = cell
    segments: list[Segment] = []
    for row, col in places:
        left, right = x + (col + 0.2) * wide, x + (col + 0.8) * wide
        top, bottom = y + (row + 0.2) * high, y + (row + 0.8) * high
        segments += [(left, top, right, bottom), (left, bottom, right, top)]
    lines = (("#000000", 1.8), ("#ffffff", 0.8)) if segments else ()
    return [Stroke(tuple(segments), colour, thick) for colour, thick in lines]


TO_PERCENTILE = "percentile"  # the scale of a layer in which a head rests on a patch
WORDS = {
    "fixed": "attention weight, square-root scale",
    "own": "attention weight, up to the largest on a patch here, square-root scale",
    "layer": "attention weight, up to the largest on a patch in any head, square-root scale",
    TO_PERCENTILE: "attention weight, up to the 99th percentile beside a sink, square-root scale",
    "log": "attention weight, up to the largest on a patch in any head, logarithmic",
}
RAMP = sequential("dark")
EVEN = 1.25  # of largest to mean weight, below which a map is nearly uniform
FAINTEST = 0.15  # share of the colours that is left of a uniform map


def nearly_uniform(weights: np.ndarray) -> bool:
    """Whether patches have about the same weight."""
    return _contrast(weights) < EVEN


def strength_of(weights: np.ndarray) -> float:
    """The share of the colours' opacity that a map keeps: little if it is uniform."""
    return min(1.0, max(FAINTEST, _contrast(weights) - 1))


def _contrast(weights: np.ndarray) -> float:
    """The largest over the mean weight, 1 for equal ones."""
    return float(weights.max() / (weights.mean() or 1)) if weights.any() else 1.0


def _colours(weights: np.ndarray, top: float, log: bool) -> np.ndarray:
    """The colour of each patch, "row col 4" with its opacity; as in the view.

    Every pixel of a picture is the brighter the larger the weight. A uniform map is faint.
    """
    level = np.rint(255 * parts.levels(weights / top, log=log)).astype(int)
    opacity = np.rint((140 + level * 90 // 256) * strength_of(weights))
    return np.concatenate([RAMP[level], opacity[..., None]], -1).astype(np.uint8)


def changes_up_to(most: float) -> Scale:
    """The colours of changes on both sides of 0."""
    return Scale("signed", -most, most, "change of the weight, square-root scale", "dark")


def signed_colours(values: np.ndarray, scale: Scale) -> np.ndarray:
    """The colour of each number on both sides of 0, "row col 4"; 0 leaves the picture visible."""
    opacity = np.rint(60 + 180 * np.sqrt(np.abs(values) / (scale.high or 1)))
    return np.concatenate([scale.colours(values), opacity[..., None]], -1).astype(np.uint8)


def _shade(mask: np.ndarray) -> np.ndarray:
    """Black over the patches outside a mask, "row col 4"."""
    layer = np.zeros((*mask.shape, 4), np.uint8)
    layer[~mask, 3] = SHADE
    return layer


def veiled(layer: np.ndarray, picture: np.ndarray | None, veil: Veil) -> np.ndarray:
    """The picture under a layer of one pixel a patch; without one, the layer on white.

    Args:
        layer: uint8 "row col 4", with its opacity.
        picture: uint8 "row col 3".
        veil: how the layer lies over it.
    """
    rows, cols = layer.shape[:2]
    if picture is None:
        if veil.paint != "mask":
            return layer[..., :3]
        return np.repeat(255 - layer[..., 3:], 3, -1)
    high, wide = picture.shape[:2]
    if veil.paint == "smooth":
        smooth = Image.fromarray(layer, "RGBA").resize((wide, high), Image.Resampling.BILINEAR)
        spread = np.asarray(smooth)
    else:
        spread = layer[np.ix_(np.arange(high) * rows // high, np.arange(wide) * cols // wide)]
    share = spread[..., 3:] / 255 * veil.opacity / 100
    grey = picture @ np.array([0.299, 0.587, 0.114])
    ground = picture if veil.ground == "colour" else (24 + 0.7 * grey)[..., None]
    return np.rint(ground * (1 - share) + spread[..., :3] * share).astype(np.uint8)
