"""Parts that all figures share: title, caption, colour bar, token labels, ticks."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from viz.drawing.letters import code_points, fitted, visible, width, wrapped
from viz.drawing.scene import Fill, Item, Scene, Text, frame
from viz.theme import COLOURS, sequential

PAGE = 468.0  # width of a figure: a page of letter paper within one-inch margins
MARGIN = 6.0
TITLE, BODY, SMALL = 10.0, 7.5, 6.5  # type sizes
LEAST = 4.5  # the smallest type of a token
GROWN = 6.0  # type of the tokens of a figure that grows until each has a label
NAMED = 256  # up to so many tokens a figure grows
LINE = 1.35  # from one line to the next, in type sizes
SECONDS = re.compile(r"\d+\.\d+ s")  # a label of a moment
DECADES = 4  # of the logarithmic scale of a picture, as in its view
TICKS = (0, 0.01, 0.05, 0.1, 0.25, 0.5, 1)
INK = COLOURS["light"]  # figures are light: for paper
NO_FONT = "Characters for which no font was found are shown by their code points."


@dataclass(frozen=True)
class Caption:
    """What is written around a figure.

    Attributes:
        title: above it: model, layer, head.
        lines: below it: what it shows, the input, the version.
        software: what made it.
        written: whether title and lines are drawn; otherwise the file has them as metadata.
    """

    title: str
    lines: tuple[str, ...]
    software: str
    written: bool = True


def finished(
    items: Sequence[Item], bottom: float, caption: Caption, *, wide: float = PAGE
) -> Scene:
    """The scene of a figure, with its title above and its caption below.

    Args:
        items: of the figure; its content starts at `start_of(caption)`.
        bottom: lower edge of the content.
        caption: title and caption.
        wide: width of the figure.
    """
    inner = wide - 2 * MARGIN
    title = [
        Text(MARGIN, MARGIN + TITLE * (1 + LINE * i), line, TITLE, INK.text)
        for i, line in enumerate(wrapped(caption.title, TITLE, inner))
        if caption.written
    ]
    drawn = [*title, *items]
    written = [item.text for item in drawn if isinstance(item, Text)]
    lines = [*caption.lines]
    if any(code_points(text) for text in [*written, *lines]):
        lines.append(NO_FONT)
    y = bottom + 4
    for line in lines if caption.written else ():
        for part in wrapped(line, SMALL, inner):
            y += SMALL * LINE
            drawn.append(Text(MARGIN, y, part, SMALL, INK.muted))
    return Scene(
        wide,
        y + MARGIN,
        tuple(drawn),
        caption.title,
        " ".join(lines),
        caption.software,
        INK.background,
    )


def start_of(caption: Caption, *, wide: float = PAGE) -> float:
    """Where the content of a figure starts, below its title."""
    if not caption.written:
        return MARGIN
    lines = len(wrapped(caption.title, TITLE, wide - 2 * MARGIN))
    return MARGIN + TITLE * LINE * lines + 2


def colours(weights: np.ndarray, top: float) -> np.ndarray:
    """The colour of each weight, on the square-root scale from 0 to `top`: uint8 [..., 3]."""
    share = np.sqrt(np.clip(weights / top, 0, 1))
    return sequential("light")[np.rint(255 * share).astype(int)]


def hexadecimal(colour: np.ndarray) -> str:
    """#rrggbb."""
    return "#" + bytes(colour).hex()


def colour_bar(
    x: float, y: float, top: float, words: str, ramp: np.ndarray | None = None, *, log: bool = False
) -> list[Item]:
    """The scale of colours with its numbers; 26 points high.

    Args:
        x: left edge.
        y: upper edge.
        top: number of the last colour.
        words: beside it.
        ramp: the colours; None for those of light figures.
        log: whether it is logarithmic, over `DECADES`, and not the square root.
    """
    ramp = sequential("light") if ramp is None else ramp
    long, high, steps = 180.0, 7.0, 64
    step = long / steps
    items: list[Item] = [
        Fill(((x + i * step, y, step + (0.2 if i < steps - 1 else 0), high),), hexadecimal(colour))
        for i, colour in enumerate(ramp[np.linspace(0, 255, steps).round().astype(int)])
    ]
    items.append(frame((x, y, long, high), INK.line))
    values = [t for t in TICKS if t <= top * 0.8 or t == top]
    values += [] if top in values else [top]
    if log:
        values = [top * 10.0**-n for n in range(DECADES, -1, -1)]
    for value in values:
        at = x + long * float(levels(np.array(value / top), log=log))
        items.append(Text(at, y + high + SMALL + 1, _tidy(value), SMALL, INK.muted, "middle"))
    items.append(Text(x + long + 10, y + 6, words, SMALL, INK.muted))
    return items


def levels(shares: np.ndarray, *, log: bool = False) -> np.ndarray:
    """Where shares of the largest number stand on a scale of colours, 0 to 1."""
    if log:
        return np.clip(1 + np.log10(np.maximum(shares, 10.0**-DECADES)) / DECADES, 0, 1)
    return np.sqrt(np.clip(shares, 0, 1))


def scale_words(top: float) -> str:
    """What a colour bar says."""
    if top == 1:
        return "attention weight (square-root scale)"
    return "attention weight, up to the largest shown (square-root scale)"


def label_size(pitch: float) -> float | None:
    """The type size of labels that stand this far apart; None if there is no room for them."""
    return min(BODY, pitch * 0.85) if pitch * 0.85 >= LEAST else None


def grown_pitch(pitch: float, tokens: int) -> float:
    """How far apart labels stand in a figure that grows where there is no room for them."""
    return GROWN / 0.85 if label_size(pitch) is None and tokens <= NAMED else pitch


def longest(labels: Sequence[str], size: float, most: float) -> float:
    """The width that labels take."""
    return min(most, max(width(visible(label), size) for label in labels))


def stride(pitch: float, least: float) -> int:
    """Every how many tokens a position is written so that numbers keep this distance."""
    power = 1
    while True:
        for factor in (1, 2, 5):
            if factor * power * pitch >= least:
                return factor * power
        power *= 10


def names_beside(
    labels: Sequence[str], x: float, y: float, pitch: float, most: float, *, left: bool = True
) -> list[Item]:
    """Labels of rows, beside the line at x: on its left, or on its right."""
    anchor = "end" if left else "start"
    size = label_size(pitch)
    if size is None:
        return [
            Text(
                x, y + (i + 0.5) * pitch + SMALL * 0.35, _place(labels, i), SMALL, INK.muted, anchor
            )
            for i in range(0, len(labels), stride(pitch, SMALL * 1.6))
        ]
    return [
        Text(
            x,
            y + (i + 0.5) * pitch + size * 0.35,
            fitted(visible(label), size, most),
            size,
            INK.text,
            anchor,
        )
        for i, label in enumerate(labels)
    ]


def names_above(labels: Sequence[str], x: float, y: float, pitch: float, most: float) -> list[Item]:
    """Labels of columns above the line at y, slanted."""
    size = label_size(pitch)
    if size is None:
        return [
            Text(x + (i + 0.5) * pitch, y - 1, _place(labels, i), SMALL, INK.muted, "middle")
            for i in range(0, len(labels), stride(pitch, SMALL * (4 if _timed(labels) else 3)))
        ]
    return [
        Text(
            x + (i + 0.5) * pitch + size * 0.2,
            y - 2,
            fitted(visible(label), size, most),
            size,
            INK.text,
            "start",
            -60.0,
        )
        for i, label in enumerate(labels)
    ]


def _place(labels: Sequence[str], index: int) -> str:
    """What stands for a token without a label: its number, or its moment in a recording."""
    return labels[index] if _timed(labels) else str(index)


def noun_of(labels: Sequence[str]) -> str:
    """What a position of an axis is: a moment of a recording, or a token."""
    return "moment" if _timed(labels) else "token"


def _timed(labels: Sequence[str]) -> bool:
    """Whether tokens are moments of a recording."""
    return bool(labels) and SECONDS.fullmatch(labels[0]) is not None


def _tidy(value: float) -> str:
    return f"{value:.3g}"
