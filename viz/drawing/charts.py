"""The Plotly figures of a page as one figure for print, stacked, in light colours, text as text.

Drawn are heat maps, pictures, lines, markers, bands and horizontal bars, their axes, marks, names
and colour scales: what `viz.figures`, `viz.positions` and `viz.vision` make.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from html import unescape
from itertools import cycle, groupby, pairwise
from typing import Any

import numpy as np
import plotly.graph_objects as go

from viz.drawing import parts
from viz.drawing.letters import width
from viz.drawing.parts import BODY, INK, LINE, MARGIN, PAGE, SMALL, Caption
from viz.drawing.scales import Scale
from viz.drawing.scene import Anchor, Box, Fill, Item, Raster, Scene, Segment, Stroke, Text, frame

HIGH = 0.55  # points for a pixel of a figure's height
LEFT, BELOW, ABOVE = 34.0, 28.0, 14.0  # around the axes: numbers, their title, a name
TICKS = 5  # on an axis, about
MOST = 2000  # pixels along a side of a heat map
BETWEEN = 40.0  # between two rows of subplots
BAND = 0.25  # opacity
THIN = 0.5  # height of a band where its edges meet
ANCHORS: dict[str | None, Anchor] = {"left": "start", "right": "end"}
POINTS = 0.45  # of type, for a pixel


def charts(figures: Sequence[go.Figure], caption: Caption) -> Scene:
    """Several Plotly figures, in the order of the page.

    Raises:
        ValueError: for a kind of trace that is none of those named above.
    """
    if not figures:
        raise ValueError("expected at least one chart to draw, received none")
    y = parts.start_of(caption)
    items: list[Item] = []
    for figure in figures:
        drawn, y = chart(figure, y)
        items += drawn
    return parts.finished(items, y, caption)


@dataclass(frozen=True)
class _Axes:
    """A pair of axes on the page, and the numbers at their ends."""

    box: Box
    x: tuple[float, float]
    y: tuple[float, float]

    def at(self, x: Any, y: Any) -> tuple[Any, Any]:
        """Where a pair of numbers is drawn."""
        left, top, wide, high = self.box
        across = (x - self.x[0]) / ((self.x[1] - self.x[0]) or 1)
        up = (y - self.y[0]) / ((self.y[1] - self.y[0]) or 1)
        return left + wide * across, top + high * (1 - up)


def chart(figure: Any, y: float) -> tuple[list[Item], float]:
    """What is drawn of a Plotly figure from y on, and where it ends."""
    layout = figure.layout
    y += BODY * LINE
    items: list[Item] = [Text(MARGIN, y, unescape(layout.title.text or ""), BODY, INK.text)]
    page = (MARGIN + LEFT, y + ABOVE, PAGE - 2 * MARGIN - LEFT - 8, HIGH * (layout.height or 420))
    lines = [*_coloured(figure)]
    placed = _placed(figure, page)
    bottom = max(axes.box[1] + axes.box[3] for axes in placed.values())
    for names, axes in placed.items():
        mine = [(t, c) for t, c in lines if (t.xaxis or "x", t.yaxis or "y") == names]
        for trace, colour in mine:
            items += _trace(figure, trace, axes, colour)
        items += _marks(figure, names, axes)
        items += _frame(figure, names, axes)
    items += _names(figure, placed)
    bottom += BELOW
    named = [(t.name, c) for t, c in lines if t.type == "scatter" and t.showlegend is not False]
    if len(named) > 1:
        drawn, bottom = _legend(named, bottom)
        items += drawn
    if any(trace.type == "heatmap" for trace, _ in lines):
        items += _scale(figure).bar(MARGIN, bottom)
        bottom += 22
    return items, bottom + 6


def _coloured(figure: Any) -> Iterator[tuple[Any, str]]:
    """Each trace with its colour: its own, or the next of the theme's."""
    colours = cycle(INK.heads)
    for trace in figure.data:
        if trace.type not in ("heatmap", "image", "scatter", "bar"):
            raise ValueError(f"expected charts of cells, lines and bars, received {trace.type}")
        if trace.type == "scatter":
            colour = INK.muted if trace.fill else trace.line.color or trace.marker.color
        else:
            colour = None if trace.type == "bar" else INK.text
        yield trace, colour or next(colours)


# --- axes -----------------------------------------------------------------------------------------


def _placed(figure: Any, page: Box) -> dict[tuple[str, str], _Axes]:
    """The axes of every subplot, with the rows of subplots moved close together."""
    traces = figure.data
    names: list[tuple[str, str]] = [
        *dict.fromkeys((trace.xaxis or "x", trace.yaxis or "y") for trace in traces)
    ]
    placed = {each: _axes(figure, each, page) for each in names}
    y = page[1]
    for _, row in groupby(sorted(placed, key=lambda each: placed[each].box[1]), _row(placed)):
        height = 0.0
        for each in row:
            left, _, wide, high = placed[each].box
            placed[each] = replace(placed[each], box=(left, y, wide, high))
            height = max(height, high)
        y += height + BETWEEN
    return placed


def _row(placed: Mapping[tuple[str, str], _Axes]) -> Callable[[tuple[str, str]], float]:
    """Where the row of a subplot starts on the page."""
    starts = {each: round(axes.box[1], 3) for each, axes in placed.items()}
    return starts.__getitem__


def _axes(figure: Any, names: tuple[str, str], page: Box) -> _Axes:
    """The axes of a subplot; with equal units on both, narrower or lower, around their middle."""
    across, up = (_axis(figure, name) for name in names)
    left, top, wide, high = page
    first, last = across.domain or (0, 1)
    low, most = up.domain or (0, 1)
    box = (left + wide * first, top + high * (1 - most), wide * (last - first), high * (most - low))
    x, y = (_span(figure, names, axis) for axis in "xy")
    if up.scaleanchor:
        unit = min(box[2] / abs(x[1] - x[0]), box[3] / abs(y[1] - y[0]) / (up.scaleratio or 1))
        inner = unit * abs(x[1] - x[0]), unit * abs(y[1] - y[0]) * (up.scaleratio or 1)
        box = (box[0] + (box[2] - inner[0]) / 2 * (len(figure.data) > 1), box[1], *inner)
    return _Axes(box, x, y)


def _axis(figure: Any, name: str) -> Any:
    return figure.layout[f"{name[0]}axis{name[1:]}"]


def _span(figure: Any, names: tuple[str, str], which: str) -> tuple[float, float]:
    """The numbers at both ends of an axis: as set, else those of its traces."""
    axis = _axis(figure, names["xy".index(which)])
    if axis.range:
        return float(axis.range[0]), float(axis.range[1])
    traces = [t for t in figure.data if (t.xaxis or "x", t.yaxis or "y") == names]
    ends = [end for trace in traces for end in _ends(trace, which)]
    low, high = min(ends), max(ends)
    room = 0.0 if traces[0].type in ("heatmap", "image") else 0.04 * ((high - low) or 1)
    low, high = low - room, high + room
    return (high, low) if axis.autorange == "reversed" else (low, high)


def _ends(trace: Any, which: str) -> tuple[float, float]:
    if trace.type in ("heatmap", "image"):
        first, step = _start(trace, which)
        count = np.asarray(trace.z).shape[which == "x"]
        return first - step / 2, first + (count - 0.5) * step
    numbers = np.asarray(trace[which], float)
    low, high = float(np.nanmin(numbers)), float(np.nanmax(numbers))
    if trace.type == "bar":
        return (min(0.0, low), high) if which == "x" else (low - 0.5, high + 0.5)
    return low, high


def _start(trace: Any, which: str) -> tuple[float, float]:
    """The first cell's place on an axis, and the step to the next."""
    first, step = trace[f"{which}0"], trace[f"d{which}"]
    return float(first or 0), float(step or 1)


def _ticks(axis: Any, span: tuple[float, float]) -> list[tuple[float, str]]:
    low, high = sorted(span)
    if axis.tickvals is not None:
        texts = axis.ticktext if axis.ticktext is not None else axis.tickvals
        pairs = zip(axis.tickvals, texts, strict=True)
        return [(float(at), unescape(str(text))) for at, text in pairs if low <= at <= high]
    raw = (high - low) / TICKS
    power = 10 ** math.floor(math.log10(raw))
    step = next(f * power for f in (1, 2, 5, 10) if f * power >= raw * 0.999)
    if axis.tickformat == "d":
        step = max(1, round(step))
    numbers = np.arange(math.ceil(low / step), math.floor(high / step) + 1) * step
    return [(float(n), f"{n:.6g}".replace("-", "−")) for n in numbers + 0.0]


def _frame(figure: Any, names: tuple[str, str], axes: _Axes) -> list[Item]:
    across, up = (_axis(figure, name) for name in names)
    left, top, wide, high = axes.box
    if across.visible is False:
        return []
    bottom = top + high
    items: list[Item] = [frame(axes.box, INK.line)]
    if across.showticklabels is not False:
        for number, text in _ticks(across, axes.x):
            x, _ = axes.at(number, 0)
            items.append(Stroke(((x, bottom, x, bottom + 2.5),), INK.line, 0.5))
            items.append(Text(x, bottom + SMALL + 3, text, SMALL, INK.muted, "middle"))
    if across.title.text:
        at = left + wide / 2, bottom + 2.5 * SMALL + 3
        items.append(Text(*at, unescape(across.title.text), SMALL, INK.text, "middle"))
    most = 0.0
    if up.showticklabels is not False:
        for number, text in _ticks(up, axes.y):
            _, y = axes.at(0, number)
            most = max(most, width(text, SMALL))
            items.append(Stroke(((left - 2.5, y, left, y),), INK.line, 0.5))
            items.append(Text(left - 4, y + SMALL * 0.35, text, SMALL, INK.muted, "end"))
    if up.title.text:
        at = left - most - 9, top + high / 2
        items.append(Text(*at, unescape(up.title.text), SMALL, INK.text, "middle", -90.0))
    return items


def _marks(figure: Any, names: tuple[str, str], axes: _Axes) -> list[Item]:
    """Marked rows and columns, as dotted lines."""
    items: list[Item] = []
    left, top, wide, high = axes.box
    layout = figure.layout
    for shape in layout.shapes:
        on_axes = (shape.xref.split()[0], shape.yref.split()[0]) == names
        if shape.type != "line" or not on_axes:
            continue
        dots: tuple[Segment, ...]
        if shape.xref == names[0]:
            x = float(axes.at(shape.x0, 0)[0])
            starts = np.arange(top, top + high, 3.0).tolist()
            dots = tuple((x, at, x, min(at + 1.5, top + high)) for at in starts)
        else:
            y = float(axes.at(0, shape.y0)[1])
            starts = np.arange(left, left + wide, 3.0).tolist()
            dots = tuple((at, y, min(at + 1.5, left + wide), y) for at in starts)
        items.append(Stroke(dots, INK.muted, 0.7))
    return items


def _names(figure: Any, placed: Mapping[tuple[str, str], _Axes]) -> list[Item]:
    """Annotations: the name of each subplot, in their order, and names among the numbers.

    One with a ground begins at its place.
    """
    items: list[Item] = []
    subplots = iter(placed.values())
    layout = figure.layout
    for note in layout.annotations:
        if note.xref == "paper":
            left, top, wide, _ = next(subplots).box
            x, y = left + wide / 2, top - 4
        else:
            names = [(ref or axis).split()[0] for ref, axis in ((note.xref, "x"), (note.yref, "y"))]
            axes = placed[names[0], names[1]]
            x, y = axes.at(note.x, note.y)
            if "domain" in (note.xref or ""):
                x = axes.box[0] + note.x * axes.box[2]
            y += SMALL * (1.3 if note.yanchor == "top" else 0.35)
        size = POINTS * (note.font.size or 14)
        anchor = ANCHORS.get(note.xanchor, "middle")
        text, colour = unescape(note.text), INK.text
        if note.bgcolor:
            colour = note.font.color
            y += size * (0.1 if note.yanchor == "top" else -0.8)
            box = (x, y - size * 1.05, width(text, size) + size * 0.6, size * 1.4)
            items.append(Fill((box,), note.bgcolor))
            x += size * 0.3
        items.append(Text(x, y, text, size, colour, anchor))
    return items


def _legend(named: Sequence[tuple[str, str]], y: float) -> tuple[list[Item], float]:
    items: list[Item] = []
    x, y = MARGIN, y + SMALL
    for name, colour in named:
        text = unescape(name or "")
        wide = width(text, SMALL) + 26
        if x + wide > PAGE - MARGIN and x > MARGIN:
            x, y = MARGIN, y + SMALL * 1.6
        items.append(Stroke(((x, y - 2, x + 12, y - 2),), colour, 1.5))
        items.append(Text(x + 15, y, text, SMALL, INK.text))
        x += wide
    return items, y + 6


# --- traces ---------------------------------------------------------------------------------------


def _trace(figure: Any, trace: Any, axes: _Axes, colour: str) -> list[Item]:
    if trace.type in ("heatmap", "image"):
        return [_cells(figure, trace, axes)]
    if trace.type == "bar":
        return _bars(trace, axes, colour)
    x, y = axes.at(np.asarray(trace.x, float), np.asarray(trace.y, float))
    if trace.fill:
        return [_band(x, y, colour)]
    points = np.stack([x, y], 1)
    segments: list[Segment] = [
        (float(a[0]), float(a[1]), float(b[0]), float(b[1]))
        for a, b in pairwise(points)
        if np.isfinite([a, b]).all()
    ]
    items: list[Item] = []
    if segments and "lines" in (trace.mode or "lines"):
        items.append(Stroke(tuple(segments), colour, 0.5 * (trace.line.width or 2)))
    if "markers" in (trace.mode or "lines"):
        size = trace.marker.size
        sizes = np.broadcast_to(4.0 if size is None else np.asarray(size, float), len(points))
        items.append(Fill(tuple(_dots(points, sizes / 2)), colour))
    return items


def _dots(points: np.ndarray, sizes: np.ndarray) -> Iterator[Box]:
    for (x, y), size in zip(points.tolist(), sizes.tolist(), strict=True):
        if size and math.isfinite(x) and math.isfinite(y):
            yield (x - size / 2, y - size / 2, size, size)


def _band(x: np.ndarray, y: np.ndarray, colour: str) -> Fill:
    """The area between a line and the line back, as a box for each step."""
    half = len(x) // 2
    low, high = y[:half].tolist(), y[half:][::-1].tolist()
    boxes: list[Box] = []
    for place, (left, right) in enumerate(pairwise(x[:half].tolist())):
        steps = max(1, math.ceil(right - left))
        wide = (right - left) / steps
        for part in range(steps):
            share = (part + 0.5) / steps
            a = low[place] + share * (low[place + 1] - low[place])
            b = high[place] + share * (high[place + 1] - high[place])
            boxes.append((left + part * wide, min(a, b), wide, max(abs(a - b), THIN)))
    return Fill(tuple(boxes), colour, BAND)


def _bars(trace: Any, axes: _Axes, colour: str) -> list[Item]:
    items: list[Item] = []
    boxes = []
    texts = trace.text if trace.text is not None else [""] * len(trace.x)
    for value, place, text in zip(trace.x, trace.y, texts, strict=True):
        left, top = axes.at(0.0, place - 0.4)
        right, bottom = axes.at(float(value), place + 0.4)
        boxes.append((min(left, right), min(top, bottom), abs(right - left), abs(bottom - top)))
        at = max(left, right) + 3, (top + bottom) / 2 + SMALL * 0.35
        items.append(Text(*at, unescape(str(text)), SMALL, INK.text))
    return [Fill(tuple(boxes), colour), *items]


def _cells(figure: Any, trace: Any, axes: _Axes) -> Raster:
    """The cells of a heat map or the pixels of a picture, upright as their axes are."""
    values = np.asarray(trace.z)
    if trace.type == "image":
        pixels = values[..., :3].astype(np.uint8)
    else:
        step = max(1, math.ceil(max(values.shape) / MOST))
        pixels = _scale(figure).colours(values[::step, ::step].astype(float))
    ends = [
        axes.at(*corner) for corner in zip(*(_ends(trace, which) for which in "xy"), strict=True)
    ]
    (x0, y0), (x1, y1) = ends
    if x1 < x0:
        pixels = pixels[:, ::-1]
    if y1 < y0:
        pixels = pixels[::-1]
    return Raster((min(x0, x1), min(y0, y1), abs(x1 - x0), abs(y1 - y0)), pixels)


def _scale(figure: Any) -> Scale:
    """The colours of heat maps."""
    layout = figure.layout
    axis = layout.coloraxis
    maps = [np.asarray(trace.z, float) for trace in figure.data if trace.type == "heatmap"]
    low = axis.cmin if axis.cmin is not None else min(float(np.nanmin(each)) for each in maps)
    high = axis.cmax if axis.cmax is not None else max(float(np.nanmax(each)) for each in maps)
    words = unescape(axis.colorbar.title.text or "")
    return Scale("linear", float(low), float(high), words)
