"""Heads as matrices: rows attend, columns are attended to."""

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from viz.drawing import parts
from viz.drawing.parts import BODY, INK, MARGIN, PAGE, SMALL, Caption
from viz.drawing.scales import Scale
from viz.drawing.scene import Box, Fill, Item, Raster, Scene, Segment, Stroke, Text, frame
from viz.heatmap import max_pool

LARGEST = 20.0  # side of a cell
TALLEST = 480.0  # height of a matrix
READABLE = 12.0  # side that cells of a long, narrow matrix have across it
NARROW = 4  # so many times longer one way than the other
LABEL = 80.0  # the most that a label takes
BESIDE = 16.0  # between two matrices
BARS = 34.0  # beside a matrix, for the shares of hidden columns
HATCH = 3.5  # between two lines
EDITABLE = 10_000  # up to so many cells each one is a rectangle; more are pixels
CELLS = 1200  # the most pixels along a side; longer matrices are max-pooled


def matrix(
    maps: Sequence[tuple[str, np.ndarray]],
    query_labels: Sequence[str],
    key_labels: Sequence[str],
    caption: Caption,
    *,
    scale: Scale,
    marks: Sequence[np.ndarray] = (),
    hidden: Sequence[int] = (),
    shares: Sequence[np.ndarray] = (),
) -> Scene:
    """A matrix for each head. That of one head grows until each token has a label.

    Args:
        maps: name and weights "query key" of each head.
        query_labels: of the rows.
        key_labels: of the columns.
        caption: title and caption.
        scale: the colours of numbers.
        marks: cells of each head that are outlined, "query key" of booleans; () for none.
        hidden: columns that are hatched because their weights are not shown.
        shares: of each head, the share of every row that went to those, as bars; () for none.
    """
    if not maps:
        raise ValueError("expected at least one head to draw, received none")
    across = min(len(maps), 2 if len(maps) <= 4 else 4)
    rows, cols = len(query_labels), len(key_labels)
    named = len(maps) > 1
    space = (PAGE - 2 * MARGIN - (across - 1) * BESIDE) / across
    beyond = BARS if shares else 0.0
    pitch, left, above, grown = _sizes(query_labels, key_labels, space, beyond, grows=not named)
    col_pitch, row_pitch = pitch
    below = SMALL * 1.5 if shares else 0.0
    if named:
        above += BODY * 1.4
    wide, high = cols * col_pitch, rows * row_pitch
    page = max(PAGE, 2 * MARGIN + grown)
    y = parts.start_of(caption, wide=page) + BODY * 1.6
    query, key = parts.noun_of(query_labels), parts.noun_of(key_labels)
    axes = f"rows ↓ query: the {query} that attends · columns → key: the {key} attended to"
    items: list[Item] = [Text(MARGIN, y - 2, axes, SMALL, INK.muted)]
    for i, (name, weights) in enumerate(maps):
        x = MARGIN + (i % across) * (left + wide + BESIDE + beyond) + left
        at = y + (i // across) * (above + high + below + 10) + above
        if named:
            items.append(Text(x, at - above + BODY, name, BODY, INK.text))
        items += _cells(weights, x, at, pitch, scale)
        items += [_hatched((x + col * col_pitch, at, col_pitch, high)) for col in hidden]
        if shares:
            items += _bars(shares[i], x + wide + 5, at, row_pitch)
        for row, col in np.argwhere(marks[i]).tolist() if marks else ():
            place = (x + col * col_pitch, at + row * row_pitch, *pitch)
            items.append(frame(place, INK.primary, 0.8))
        items.append(frame((x, at, wide, high), INK.line))
        items += parts.names_beside(query_labels, x - 3, at, row_pitch, LABEL)
        items += parts.names_above(key_labels, x, at, col_pitch, LABEL)
    y += math.ceil(len(maps) / across) * (above + high + below + 10)
    items += scale.bar(MARGIN, y)
    return parts.finished(items, y + 20, caption, wide=page)


def _hatched(box: Box) -> Stroke:
    """Slanted lines within a rectangle."""
    x, y, wide, high = box
    segments: list[Segment] = []
    for start in np.arange(y - wide, y + high + wide, HATCH).tolist():
        from_y, to_y = start + wide, start  # from the left side up to the right one
        low, most = min(from_y, y + high), max(to_y, y)
        if low > most:
            segments.append((x + from_y - low, low, x + from_y - most, most))
    return Stroke(tuple(segments), INK.line, 0.5)


def _bars(shares: np.ndarray, x: float, y: float, pitch: float) -> list[Item]:
    """A bar for the share of each row, on a ground as long as the whole row."""
    long, tall = BARS - 8, max(0.3, pitch * 0.8)
    boxes = tuple(
        (x, y + (row + 0.5) * pitch - tall / 2, long * share, tall)
        for row, share in enumerate(shares.tolist())
    )
    high = len(shares) * pitch
    return [
        Fill(((x, y, long, high),), INK.surface),
        Fill(boxes, INK.muted),
        Text(x, y + high + SMALL * 1.2, "hidden", SMALL, INK.muted),
    ]


def _sizes(
    query_labels: Sequence[str],
    key_labels: Sequence[str],
    space: float,
    bars: float,
    *,
    grows: bool,
) -> tuple[tuple[float, float], float, float, float]:
    """The pitch of columns and of rows, the space for labels on the left and above, and the width
    if it grew."""
    rows, cols = len(query_labels), len(key_labels)
    least = 60.0 if space > 300 else 24.0
    left, above, right = least, 12.0, bars
    across, down, has_grown = LARGEST, LARGEST, False
    narrow = max(rows, cols) >= NARROW * min(rows, cols)
    for _ in range(3):  # labels depend on the cells, whose size depends on the labels
        most = (space - left - right) / cols, TALLEST / rows
        across = down = pitch = min(LARGEST, *most)
        if narrow and parts.label_size(pitch) is None:
            across, down = (max(pitch, min(READABLE, each)) for each in most)
        elif grows:
            across = down = parts.grown_pitch(pitch, max(rows, cols))
            has_grown = across > pitch
        left, above, right = least, 12.0, bars
        beside, over = parts.label_size(down), parts.label_size(across)
        if beside is not None:
            left = max(least, parts.longest(query_labels, beside, LABEL) + 6)
        if over is not None:
            slanted = parts.longest(key_labels, over, LABEL)
            above, right = slanted * 0.87 + 8, max(bars, slanted * 0.5)
    return (across, down), left, above, left + cols * across + right if has_grown else 0.0


def _cells(
    weights: np.ndarray, x: float, y: float, pitch: tuple[float, float], scale: Scale
) -> list[Item]:
    rows, cols = weights.shape
    wide, high = pitch
    if weights.size > EDITABLE:
        pooled = weights
        if max(weights.shape) > CELLS:
            pooled = max_pool(np.nan_to_num(weights, nan=0.0, neginf=0.0), CELLS, CELLS)
        return [Raster((x, y, cols * wide, rows * high), scale.colours(pooled))]
    table = scale.colours(weights)
    by_colour: dict[str, list[tuple[float, float, float, float]]] = {}
    for row in range(rows):
        for start, stop in _equal(table[row]):
            box = (x + start * wide, y + row * high, (stop - start) * wide, high)
            by_colour.setdefault(parts.hexadecimal(table[row, start]), []).append(box)
    return [Fill(tuple(boxes), colour) for colour, boxes in sorted(by_colour.items())]


def _equal(colours: np.ndarray) -> list[tuple[int, int]]:
    """Ranges of neighbours with one colour."""
    changes = np.flatnonzero((colours[1:] != colours[:-1]).any(-1)) + 1
    edges = [0, *changes.tolist(), len(colours)]
    return list(pairwise(edges))
