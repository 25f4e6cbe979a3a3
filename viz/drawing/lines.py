"""Heads as lines between two columns of tokens: who attends, and who is attended to."""

from collections.abc import Sequence

import numpy as np

from viz.drawing import parts
from viz.drawing.parts import BODY, INK, MARGIN, PAGE, SMALL, Caption
from viz.drawing.scene import Item, Scene, Stroke, Text

PITCH = 11.0
TALLEST = 620.0
LABEL = 120.0
LEAST = 0.01  # of the largest weight; fainter lines could not be seen
LEVELS = 24  # of opacity
THICK = 0.9  # of a line


def lines(
    maps: Sequence[tuple[str, np.ndarray, int | None]],
    query_labels: Sequence[str],
    key_labels: Sequence[str],
    caption: Caption,
    *,
    top: float = 1.0,
) -> Scene:
    """All heads in one picture, each in its own colour.

    Args:
        maps: name, weights "query key" and number of each head; None for a mean or maximum.
        query_labels: on the left.
        key_labels: on the right.
        caption: title and caption.
        top: weight of a fully opaque line.
    """
    if not maps:
        raise ValueError("expected at least one head to draw, received none")
    pitch = min(PITCH, TALLEST / max(len(query_labels), len(key_labels)))
    size = parts.label_size(pitch) or SMALL
    side = max(parts.longest([*query_labels, *key_labels], size, LABEL), 60) + 6
    left, right = MARGIN + side, PAGE - MARGIN - side
    y = parts.start_of(caption) + BODY * 1.8
    items: list[Item] = [
        Text(left, y - 5, "query: attends", SMALL, INK.muted, "end"),
        Text(right, y - 5, "key: attended to", SMALL, INK.muted),
    ]
    step = min(THICK, 0.8 * pitch / len(maps))  # equal lines of several heads lie side by side
    for i, (_, weights, head) in enumerate(maps):
        below = (i - (len(maps) - 1) / 2) * step
        items += _strands(weights, _colour(head), left + 3, right - 3, y + below, pitch, top)
    items += parts.names_beside(query_labels, left, y, pitch, LABEL)
    items += parts.names_beside(key_labels, right, y, pitch, LABEL, left=False)
    y += max(len(query_labels), len(key_labels)) * pitch + 10
    items += _legend(maps, y, top)
    return parts.finished(items, y + 14 + 10 * ((len(maps) - 1) // 6), caption)


def _colour(head: int | None) -> str:
    return INK.primary if head is None else INK.heads[head % len(INK.heads)]


def _strands(
    weights: np.ndarray,
    colour: str,
    left: float,
    right: float,
    y: float,
    pitch: float,
    top: float,
) -> list[Item]:
    """One stroke for each level of opacity, faint ones first."""
    share = np.sqrt(np.clip(weights / top, 0, 1))
    level = np.minimum(LEVELS - 1, np.floor(share * LEVELS)).astype(int)
    level[weights < LEAST * top] = -1
    return [
        Stroke(
            tuple(
                (left, y + (query + 0.5) * pitch, right, y + (key + 0.5) * pitch)
                for query, key in np.argwhere(level == each).tolist()
            ),
            colour,
            THICK,
            (each + 1) / LEVELS,
        )
        for each in sorted({*level.ravel().tolist()} - {-1})
    ]


def _legend(maps: Sequence[tuple[str, np.ndarray, int | None]], y: float, top: float) -> list[Item]:
    """The colour of each head, and the opacity of a few weights."""
    items: list[Item] = []
    for i, (name, _, head) in enumerate(maps):
        x, at = MARGIN + 46 * (i % 6), y + 10 * (i // 6)
        items.append(Stroke(((x, at, x + 12, at),), _colour(head), 1.6))
        items.append(Text(x + 15, at + 2.3, name, SMALL, INK.text))
    x = PAGE - MARGIN - 192
    for value in (0.05, 0.25, 1.0):
        opacity = (min(LEVELS - 1, int(value**0.5 * LEVELS)) + 1) / LEVELS
        items.append(Stroke(((x, y, x + 12, y),), INK.text, 0.9, opacity))
        items.append(Text(x + 15, y + 2.3, f"weight {value * top:.2g}", SMALL, INK.muted))
        x += 66
    return items
