"""Figures of several parts below each other: matrices, shaded tokens, lines of text, dots."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from viz.drawing import parts, sheets
from viz.drawing.letters import fitted, visible, width, wrapped
from viz.drawing.overlay import Veil, veiled
from viz.drawing.parts import BODY, INK, MARGIN, PAGE, SMALL, Caption
from viz.drawing.scales import Scale, scale_of
from viz.drawing.scene import Fill, Item, Raster, Scene, Stroke, Text, frame
from viz.drawing.sheets import Sheets
from viz.heatmap import max_pool

if TYPE_CHECKING:
    import plotly.graph_objects as go

WIDE = PAGE - 2 * MARGIN
LABEL = 80.0  # the most that a label of a row or column takes
LARGEST = 14.0  # side of a cell
TALLEST = 420.0  # height of a matrix
LONGEST = 320.0  # side of a picture
CELLS = 1200  # the most pixels along a side; longer matrices are max-pooled
GAP = 3.0  # between shaded tokens
CELL = 38.0  # width of a cell with a word
LUMINANCE = (0.299, 0.587, 0.114)


@dataclass(frozen=True, eq=False)
class Grid:
    """A matrix of numbers, or a row of them.

    Attributes:
        title: above it.
        values: "row col".
        rows: labels of the rows; () for none.
        cols: labels of the columns; () for none.
        words: of the colour bar.
        scale: None from 0 to the largest, or on both sides of 0 where some are negative.
    """

    title: str
    values: np.ndarray
    rows: Sequence[str] = ()
    cols: Sequence[str] = ()
    words: str = "value"
    scale: Scale | None = None


@dataclass(frozen=True, eq=False)
class Shaded:
    """Tokens in the order of the text, shaded by a number each.

    Attributes:
        title: above them.
        labels: of the tokens.
        values: one for each.
        scale: None from 0 to the largest, or on both sides of 0.
        words: of the colour bar.
        marked: the token in question, outlined.
        strongest: tokens outlined because they have the largest numbers.
        bar: whether a colour bar follows; the last part of several with one scale has it.
    """

    title: str
    labels: Sequence[str]
    values: np.ndarray
    scale: Scale | None = None
    words: str = "value"
    marked: int | None = None
    strongest: Sequence[int] = ()
    bar: bool = True


@dataclass(frozen=True, eq=False)
class Pictured:
    """A number for each patch, over the picture.

    Attributes:
        title: above it.
        values: "row col".
        picture: uint8 "row col 3", what the network read; None draws the patches alone.
        veil: how the colours lie over it.
        words: of the colour bar.
        layer: uint8 "row col 4", the colours with their opacity, where they are no scale's.
    """

    title: str
    values: np.ndarray
    picture: np.ndarray | None
    veil: Veil
    words: str = "value"
    layer: np.ndarray | None = None


@dataclass(frozen=True, eq=False)
class Cells:
    """A matrix of words, each shaded by a number; a long one in parts below each other.

    Attributes:
        title: above it.
        values: "row col".
        texts: by row, what stands in each cell.
        rows: labels of the rows.
        cols: labels of the columns.
        scale: of the colours.
    """

    title: str
    values: np.ndarray
    texts: Sequence[Sequence[str]]
    rows: Sequence[str]
    cols: Sequence[str]
    scale: Scale


@dataclass(frozen=True)
class Lines:
    """Lines of text under a title."""

    title: str
    lines: Sequence[str]


@dataclass(frozen=True, eq=False)
class Points:
    """Named dots over two axes, in the colour of a third number.

    Attributes:
        title: above them.
        names: of the dots.
        values: "dot 3": along x, along y, and in colour; NaN where there is none.
        axes: what the three are.
    """

    title: str
    names: Sequence[str]
    values: np.ndarray
    axes: tuple[str, str, str]


@dataclass(frozen=True, eq=False)
class Charts:
    """Plotly figures below each other, of the kinds that `viz.drawing.charts` draws."""

    title: str
    figures: "Sequence[go.Figure]"


Panel = Grid | Shaded | Pictured | Sheets | Cells | Lines | Points | Charts


def panels(content: Sequence[Panel], caption: Caption) -> Scene:
    """The parts below each other, each with its own scale of colours."""
    if not content:
        raise ValueError("expected at least one part to draw, received none")
    page = max(PAGE, *(_sizes(panel).wide for panel in content if isinstance(panel, Grid)), 0.0)
    y = parts.start_of(caption, wide=page) + 4
    items: list[Item] = []
    for panel in content:
        for line in wrapped(panel.title, BODY, WIDE):
            y += BODY * 1.35
            items.append(Text(MARGIN, y, line, BODY, INK.text))
        drawn, y = _drawn(panel, y + 4)
        items += drawn
        y += 8
    return parts.finished(items, y, caption, wide=page)


def _drawn(panel: Panel, y: float) -> tuple[list[Item], float]:
    """What is drawn from y on, and where it ends."""
    match panel:
        case Grid():
            return _grid(panel, y)
        case Shaded():
            return _shaded(panel, y)
        case Pictured():
            return _pictured(panel, y)
        case Sheets():
            return sheets.drawn(panel, y)
        case Cells():
            return _cells(panel, y)
        case Points():
            return _points(panel, y)
        case Charts():
            return _charts(panel, y)
    items: list[Item] = []
    for line in panel.lines:
        for part in wrapped(line, SMALL, WIDE):
            y += SMALL * 1.4
            items.append(Text(MARGIN, y, part, SMALL, INK.text))
    return items, y + 2


class Sizes(NamedTuple):
    """The pitch of a grid's cells, the space left of and above them, and the page it needs."""

    pitch: float
    left: float
    above: float
    wide: float


def _sizes(panel: Grid) -> Sizes:
    """A grid with labels grows until each has room."""
    rows, cols = panel.values.shape
    pitch, left, above, right = LARGEST, 0.0, 0.0, 0.0
    for _ in range(4):  # labels depend on the cells, whose size depends on the labels
        pitch = min(LARGEST, (WIDE - left - right) / cols, TALLEST / rows)
        if panel.cols:
            pitch = parts.grown_pitch(pitch, max(rows, cols))
        size = parts.label_size(pitch)
        beside = BODY if rows == 1 else size or SMALL
        left = parts.longest(panel.rows, beside, LABEL) + 6 if panel.rows else 0.0
        slanted = parts.longest(panel.cols, size, LABEL) if panel.cols and size else 0.0
        above = slanted * 0.87 + 8 if panel.cols else 0.0
        right = slanted * 0.5
    return Sizes(pitch, left, above, 2 * MARGIN + left + cols * pitch + right)


def _grid(panel: Grid, y: float) -> tuple[list[Item], float]:
    rows, cols = panel.values.shape
    pitch, left, above, _ = _sizes(panel)
    tall = max(pitch, LARGEST) if rows == 1 else pitch
    x, top = MARGIN + left, y + above
    box = (x, top, cols * pitch, rows * tall)
    scale = panel.scale or scale_of(panel.values, panel.words)
    pooled = panel.values
    if max(rows, cols) > CELLS:
        pooled = max_pool(panel.values, CELLS, CELLS)
    items: list[Item] = [Raster(box, scale.colours(pooled)), frame(box, INK.line)]
    if panel.rows:
        items += parts.names_beside(panel.rows, x - 3, top, tall, LABEL)
    if panel.cols:
        items += parts.names_above(panel.cols, x, top, pitch, LABEL)
    y = top + rows * tall + 6
    return [*items, *scale.bar(MARGIN, y)], y + 18


def _shaded(panel: Shaded, y: float) -> tuple[list[Item], float]:
    scale = panel.scale or scale_of(panel.values, panel.words)
    colours = scale.colours(panel.values)
    high, x = BODY * 1.7, MARGIN
    items: list[Item] = []
    for i, label in enumerate(panel.labels):
        text = fitted(visible(label), BODY, WIDE - 8)
        wide = width(text, BODY) + 6
        if x + wide > MARGIN + WIDE:
            x, y = MARGIN, y + high + GAP
        box = (x, y, wide, high)
        items.append(Fill((box,), parts.hexadecimal(colours[i])))
        if i == panel.marked:
            items.append(frame(box, INK.primary, 1.2))
        elif i in panel.strongest:
            items.append(frame(box, INK.text, 0.8))
        items.append(Text(x + 3, y + high * 0.7, text, BODY, _ink_on(colours[i])))
        x += wide + GAP
    y += high + 6
    return ([*items, *scale.bar(MARGIN, y)], y + 18) if panel.bar else (items, y - 4)


def _pictured(panel: Pictured, y: float) -> tuple[list[Item], float]:
    scale = replace(scale_of(panel.values, panel.words), mode="dark")
    share = np.sqrt(np.abs(panel.values) / (scale.high or 1))
    signed = scale.kind == "signed"
    opacity = np.rint(60 + 180 * share if signed else 140 + 90 * share)[..., None]
    layer = panel.layer
    if layer is None:
        layer = np.concatenate([scale.colours(panel.values), opacity], -1).astype(np.uint8)
    veil = replace(panel.veil, ground="grey") if signed else panel.veil
    rows, cols = panel.values.shape
    wide = min(WIDE, LONGEST * cols / max(rows, cols))
    high = wide * rows / cols
    raster = Raster((MARGIN, y, wide, high), veiled(layer, panel.picture, veil))
    y += high + 6
    if panel.layer is not None:
        return [raster], y
    return [raster, *scale.bar(MARGIN, y)], y + 18


def _cells(panel: Cells, y: float) -> tuple[list[Item], float]:
    left = parts.longest(panel.rows, BODY, LABEL) + 6
    across = max(1, int((WIDE - left) / CELL))
    colours = panel.scale.colours(panel.values)
    wide, high = (WIDE - left) / across, SMALL * 1.7
    items: list[Item] = []
    for first in range(0, len(panel.cols), across):
        y += SMALL * 1.4
        for place, label in enumerate(panel.cols[first : first + across]):
            text = fitted(visible(label), SMALL, wide - 2)
            items.append(Text(MARGIN + left + place * wide + 2, y - 2, text, SMALL, INK.muted))
        for row, name in enumerate(panel.rows):
            items.append(Text(MARGIN, y + high * 0.7, name, SMALL, INK.text))
            for place, text in enumerate(panel.texts[row][first : first + across]):
                box = (MARGIN + left + place * wide, y, wide, high)
                colour = colours[row, first + place]
                items += [Fill((box,), parts.hexadecimal(colour)), frame(box, INK.line, 0.3)]
                word = fitted(visible(text), SMALL, wide - 4)
                items.append(Text(box[0] + 2, y + high * 0.7, word, SMALL, _ink_on(colour)))
            y += high
        y += 6
    return [*items, *panel.scale.bar(MARGIN, y)], y + 18


def _ink_on(colour: np.ndarray) -> str:
    """Of a text on a colour."""
    return INK.background if float(colour @ np.array(LUMINANCE)) < 128 else INK.text


def _points(panel: Points, y: float) -> tuple[list[Item], float]:
    kept = np.flatnonzero(np.isfinite(panel.values[:, :2]).all(1))
    if not len(kept):
        return [Text(MARGIN, y + SMALL, "No head has both numbers.", SMALL, INK.muted)], y + 12
    across, up, third = panel.values[kept].T
    x, wide, high = MARGIN + 40, WIDE - 50, 300.0
    scale = _ends(third, panel.axes[2])
    colours = scale.colours(third)
    items: list[Item] = [frame((x, y, wide, high), INK.line)]
    spans = [_span(across), _span(up)]
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        at, over = x + 8 + share * (wide - 16), y + high - 8 - share * (high - 16)
        values = [low + share * (most - low) for low, most in spans]
        named = [f"{value:.3g}".replace("-", "−") for value in values]
        items += [
            Stroke(((at, y + high, at, y + high + 3),), INK.line, 0.5),
            Text(at, y + high + SMALL + 4, named[0], SMALL, INK.muted, "middle"),
            Stroke(((x - 3, over, x, over),), INK.line, 0.5),
            Text(x - 5, over + SMALL * 0.35, named[1], SMALL, INK.muted, "end"),
        ]
    items.append(
        Text(x + wide / 2, y + high + 2.6 * SMALL + 2, panel.axes[0], SMALL, INK.text, "middle")
    )
    items.append(Text(MARGIN + 5, y + high / 2, panel.axes[1], SMALL, INK.text, "middle", -90.0))
    for i, dot in enumerate(kept.tolist()):
        shares = [
            (value - low) / ((most - low) or 1)
            for value, (low, most) in zip((across[i], up[i]), spans, strict=True)
        ]
        at, over = x + 8 + shares[0] * (wide - 16), y + high - 8 - shares[1] * (high - 16)
        colour = parts.hexadecimal(colours[i])
        items.append(Fill(((at - 2.2, over - 2.2, 4.4, 4.4),), colour))
        items.append(frame((at - 2.2, over - 2.2, 4.4, 4.4), INK.text, 0.3))
        items.append(Text(at + 3.4, over + 1.6, panel.names[dot], 4.5, INK.muted))
    y += high + 3.4 * SMALL + 6
    return [*items, *scale.bar(MARGIN, y)], y + 18


def _charts(panel: Charts, y: float) -> tuple[list[Item], float]:
    from viz.drawing.charts import chart

    items: list[Item] = []
    for figure in panel.figures:
        drawn, y = chart(figure, y)
        items += drawn
    return items, y


def _ends(values: np.ndarray, words: str) -> Scale:
    seen = values[np.isfinite(values)]
    low, high = (float(seen.min()), float(seen.max())) if seen.size else (0.0, 1.0)
    return Scale("linear", low, high, words)


def _span(values: np.ndarray) -> tuple[float, float]:
    return float(values.min()), float(values.max())
