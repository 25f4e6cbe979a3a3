"""Parts of figures: matrices with labels, shaded tokens, pictures."""

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from viz.caption import are_moments
from viz.colours import INK, Scale
from viz.heatmap import max_pool
from viz.letters import fitted, visible, width
from viz.paper import BODY, MARGIN, SMALL, WIDE, Page

LEAST = 4.5  # the smallest type of a token
GROWN = 6.0  # type of the tokens of a figure that grows until each has a label
NAMED = 256  # up to so many tokens a figure grows
LABEL = 80.0  # the most that a label takes
TALLEST = 480.0  # height of a matrix
READABLE = 12.0  # side that cells of a long, narrow matrix have across it
NARROW = 4  # so many times longer one way than the other
CELLS = 1200  # the most pixels along a side of a matrix; longer ones are max-pooled

# ---- labels


def label_size(pitch: float) -> float | None:
    """The type size of labels that stand this far apart; None if there is no room for them."""
    return min(BODY, pitch * 0.85) if pitch * 0.85 >= LEAST else None


def longest(labels: Sequence[str], size: float, most: float = LABEL) -> float:
    """The width that labels take."""
    return min(most, max((width(visible(label), size) for label in labels), default=0.0))


def names_beside(
    page: Page,
    labels: Sequence[str],
    x: float,
    y: float,
    pitch: float,
    anchor: str = "right",
    most: float = LABEL,
) -> None:
    """Labels of rows beside the line at x, or their numbers where there is no room."""
    size = label_size(pitch)
    for i, text in _written(labels, size, pitch, SMALL * 1.6, most):
        at = y + (i + 0.5) * pitch + (size or SMALL) * 0.35
        page.text(x, at, text, size or SMALL, INK.text if size else INK.muted, anchor)


def names_above(page: Page, labels: Sequence[str], x: float, y: float, pitch: float) -> None:
    """Labels of columns above the line at y, slanted, or their numbers."""
    size = label_size(pitch)
    for i, text in _written(labels, size, pitch, SMALL * (4 if are_moments(labels) else 3)):
        at = x + (i + 0.5) * pitch
        if size:
            page.text(at + size * 0.2, y - 2, text, size, angle=60)
        else:
            page.text(at, y - 2, text, SMALL, INK.muted, "center")


def _written(
    labels: Sequence[str], size: float | None, pitch: float, apart: float, most: float = LABEL
) -> Iterator[tuple[int, str]]:
    """Every label; without room for them, of some tokens the number, or the moment."""
    if size is not None:
        yield from enumerate(fitted(visible(label), size, most) for label in labels)
        return
    steps = (factor * 10**power for power in range(9) for factor in (1, 2, 5))
    step = next(step for step in steps if step * pitch >= apart)
    for i in range(0, len(labels), step):
        yield i, labels[i] if are_moments(labels) else str(i)


# ---- parts


class Sizes(NamedTuple):
    """Of a matrix: its cells, and the space around it."""

    wide: float
    high: float
    left: float
    above: float
    right: float


def matrix(
    page: Page,
    maps: Sequence[tuple[str, np.ndarray]],
    rows: Sequence[str],
    cols: Sequence[str],
    scale: Scale,
    *,
    hidden: Sequence[int] = (),
    largest: float = 20.0,
) -> None:
    """Numbers as cells; one matrix alone grows until each token has a label.

    Args:
        page: drawn on.
        maps: name and numbers "row col" of each matrix.
        rows: labels of the rows; () for none.
        cols: labels of the columns; () for none.
        scale: the colours of numbers.
        hidden: columns that are hatched because their numbers are not shown.
        largest: side of a cell.
    """
    if not maps:
        raise ValueError("expected at least one head to draw, received none")
    down, across = maps[0][1].shape
    named = BODY * 1.4 if any(name for name, _ in maps) else 0.0
    alone = len(maps) == 1 and page.room == WIDE

    def sized(beside: int) -> Sizes:
        space = (page.room - (beside - 1) * 16) / beside
        return _sizes((down, across), rows, cols, space, largest, grows=alone)

    counts = (4, 3) if len(maps) > 4 else (min(2, len(maps)),)
    with_labels = (count for count in counts if label_size(sized(count).wide))
    beside = next(with_labels, counts[0])
    size = sized(beside)
    wide, high = across * size.wide, down * size.high
    if alone:
        page.wide = max(page.wide, 2 * MARGIN + size.left + wide + size.right)
    step = named + size.above + high + 8
    for i, (name, values) in enumerate(maps):
        x = MARGIN + (i % beside) * (size.left + wide + size.right + 16) + size.left
        top = page.y + (i // beside) * step
        y = top + named + size.above
        if name:
            page.text(x, top + BODY, name, BODY)
        if max(values.shape) > CELLS:
            values = max_pool(np.nan_to_num(values, nan=0.0, neginf=0.0), CELLS, CELLS)
        page.image(x, y, wide, high, scale.colours(values))
        for col in hidden:
            page.box(x + col * size.wide, y, size.wide, high, hatch="//////", linewidth=0)
        page.box(x, y, wide, high)
        names_beside(page, rows, x - 3, y, size.high)
        names_above(page, cols, x, y, size.wide)
    page.y += math.ceil(len(maps) / beside) * step
    page.bar(scale)


def _sizes(
    shape: tuple[int, int],
    rows: Sequence[str],
    cols: Sequence[str],
    space: float,
    largest: float,
    *,
    grows: bool,
) -> Sizes:
    """Of a matrix in a space this wide: with a label at each token, else with numbers.

    The size of labels depends on the cells, and that of the cells on the labels.
    """
    down, across = shape

    def around(wide: float, high: float) -> Sizes:
        beside, over = label_size(high), label_size(wide)
        numbers = rows[-1:] if are_moments(rows) else ["000"]
        left = longest(rows if beside else numbers, beside or SMALL) + 6 if rows else 0.0
        slanted = longest(cols, over) if over else 0.0
        above = (slanted * 0.87 + 8 if over else SMALL * 1.5) if cols else 2.0
        return Sizes(wide, high, left, above, slanted * 0.5)

    def most(size: Sizes) -> tuple[float, float]:
        return (space - size.left - size.right) / across, TALLEST / down

    least = LEAST / 0.85  # the smallest cells with labels
    if (pitch := min(largest, *most(around(least, least)))) >= least:
        for _ in range(4):
            pitch = max(least, min(largest, *most(around(pitch, pitch))))
        return around(pitch, pitch)
    narrow = max(shape) >= NARROW * min(shape)
    if grows and not narrow and max(shape) <= NAMED and (rows or cols):
        return around(GROWN / 0.85, GROWN / 0.85)
    wide, high = most(around(1, READABLE if narrow else 1))
    if narrow:
        return around(min(READABLE, wide), min(READABLE, high))
    pitch = min(wide, high, least - 0.01)
    return around(pitch, pitch)


def shaded(
    page: Page,
    labels: Sequence[str],
    values: np.ndarray,
    scale: Scale,
    *,
    marked: int | None = None,
) -> None:
    """Tokens in the order of the text, shaded by a number each.

    Args:
        page: drawn on.
        labels: of the tokens.
        values: one for each.
        scale: the colours of numbers.
        marked: the token in question, outlined.
    """
    colours = scale.colours(values)
    high, x = BODY * 1.7, MARGIN
    for i, label in enumerate(labels):
        text = fitted(visible(label), BODY, page.room - 8)
        wide = width(text, BODY) + 6
        if x + wide > MARGIN + page.room:
            x, page.y = MARGIN, page.y + high + 3
        look: dict[str, Any] = {"linewidth": 0}
        if i == marked:
            look = {"edgecolor": INK.primary, "linewidth": 1.2}
        page.box(x, page.y, wide, high, facecolor=colours[i] / 255, **look)
        page.text(x + 3, page.y + high * 0.7, text, BODY, ink_on(colours[i]))
        x += wide + 3
    page.y += high + 6


def ink_on(colour: np.ndarray) -> str:
    """Of a text on a colour."""
    return INK.background if float(colour @ np.array((0.299, 0.587, 0.114))) < 128 else INK.text


class Picture(NamedTuple):
    """A picture on paper.

    Attributes:
        name: above it; "" for none.
        pixels: uint8 "row col 3".
        frames: areas that are outlined: left, top, right and bottom in shares of the picture.
        crosses: areas that are crossed out.
    """

    name: str
    pixels: np.ndarray
    frames: Sequence[tuple[float, float, float, float]] = ()
    crosses: Sequence[tuple[float, float, float, float]] = ()


def pictures(page: Page, items: Sequence[Picture]) -> None:
    """Pictures beside and below each other."""
    beside = min(len(items), 2 if len(items) <= 4 else 4)
    room, tallest = min(320.0, (page.room - 10 * (beside - 1)) / beside), 0.0
    for i, picture in enumerate(items):
        if i and i % beside == 0:
            page.y, tallest = page.y + tallest + 8, 0.0
        rows, cols = picture.pixels.shape[:2]
        wide, high = room * cols / max(rows, cols), room * rows / max(rows, cols)
        x, y = MARGIN + (i % beside) * (room + 10), page.y
        if picture.name:
            y += BODY * 1.5
            page.text(x, y - 3, fitted(visible(picture.name), BODY, room), BODY)
        page.image(x, y, wide, high, picture.pixels)
        for left, top, right, bottom in picture.frames:
            area = (x + left * wide, y + top * high, (right - left) * wide, (bottom - top) * high)
            page.box(*area, edgecolor="white", linewidth=1.8)
            page.box(*area, edgecolor=INK.primary, linewidth=1.0)
        if picture.crosses:
            left, top, right, bottom = np.array(picture.crosses).T
            crossed = np.r_[np.c_[left, top, right, bottom], np.c_[left, bottom, right, top]]
            for colour, thick in (("black", 1.8), ("white", 0.8)):
                page.strokes(crossed * (wide, high, wide, high) + (x, y, x, y), colour, thick)
        tallest = max(tallest, y + high - page.y)
    page.y += tallest + 6
