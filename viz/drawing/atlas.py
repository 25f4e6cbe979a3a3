"""Every head of a trace as a thumbnail: layers from top to bottom, heads from left to right."""

from collections.abc import Sequence

import numpy as np

from viz.drawing import parts
from viz.drawing.parts import BODY, INK, MARGIN, PAGE, SMALL, Caption
from viz.drawing.scene import Item, Raster, Scene, Text, frame

LARGEST = 60.0  # side of a thumbnail
GAP = 2.0


def atlas(
    rows: Sequence[tuple[str, np.ndarray]], caption: Caption, *, top: float | None = 1.0
) -> Scene:
    """The thumbnails.

    Args:
        rows: name of each layer, and its thumbnails "column row col": the heads, mean, max.
        caption: title and caption.
        top: weight of the last colour; None for each thumbnail's own largest weight.
    """
    if not rows:
        raise ValueError("expected at least one layer to draw, received none")
    names = max(parts.longest([name for name, _ in rows], BODY, 120), 20) + 6
    widest = max(len(small) for _, small in rows)
    side = min(LARGEST, (PAGE - 2 * MARGIN - names - 2 * GAP) / widest - GAP)
    y = parts.start_of(caption) + BODY + 4

    def left(column: int) -> float:
        return MARGIN + names + column * (side + GAP) + (2 * GAP if column >= widest - 2 else 0)

    size = min(SMALL, side / 2.6)
    items: list[Item] = [
        Text(left(i) + side / 2, y - 3, name, size, INK.muted, "middle")
        for i, name in enumerate([*map(str, range(widest - 2)), "mean", "max"])
    ]
    for name, small in rows:
        items.append(Text(MARGIN, y + side / 2 + BODY * 0.35, name, BODY, INK.text))
        for i, weights in enumerate(small):
            column = i if i < len(small) - 2 else widest - len(small) + i
            box = (left(column), y, side, side)
            most = top or float(weights.max()) or 1.0
            items.append(Raster(box, parts.colours(weights, most)))
            items.append(frame(box, INK.line, 0.3))
        y += side + GAP
    words = (
        parts.scale_words(1) if top else "share of each thumbnail’s largest weight (square root)"
    )
    items += parts.colour_bar(MARGIN, y + 6, top or 1.0, words)
    return parts.finished(items, y + 28, caption)
