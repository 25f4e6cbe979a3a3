"""A scene from the SVG of a figure that was drawn in the browser, read strictly.

What such figures are made of is understood: rectangles, circles, lines, paths, text and PNG images.
Every other element, attribute and value is refused, as are files that are large to draw.

fpdf2 reads SVG as well, and draws the same shapes and images. Its text differs: it ignores
`dominant-baseline`, and takes all letters from one font, leaving out those that the font lacks.
"""

import base64
import binascii
import io
import math
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from fontTools.pens.recordingPen import RecordingPen
from fontTools.svgLib.path import parse_path
from PIL import Image

from viz.drawing.letters import width
from viz.drawing.scene import Anchor, Item, Path, Point, Raster, Scene, Step, Text, enlargement
from viz.theme import COLOURS

SPACE = "{http://www.w3.org/2000/svg}"
PIXEL = 0.75  # points
TYPE = 0.88  # at this share of a size DejaVu Sans is as wide as Arial, and as high as Source Sans
BASELINES = {"central": 0.346, "middle": 0.273, "auto": 0.0}  # below that line, in DejaVu Sans
ELEMENTS = 8000
CHARACTERS = 1000  # of one text
OUTLINES = 500_000  # characters of all paths
PAGE = 19_200  # pixels along a side: no PDF is larger
FARTHEST = 1e5  # coordinate
PIXELS = 20_000_000  # of all images, enlarged
DASHES = 8
HAIRLINE = 0.1  # pixels: thinner areas are all but invisible, and PDF viewers thicken them
ROUND = 0.5523  # of the radius: where a curve's control points make it a quarter of a circle

PAINT = {"fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-linecap", "opacity"}
TYPESETTING = {"font-size", "font-weight", "text-anchor", "dominant-baseline"}
ATTRIBUTES = {
    "svg": {"width", "height", "viewBox"},
    "title": set[str](),
    "desc": set[str](),
    "g": set[str](),
    "rect": {"x", "y", "width", "height", "rx", *PAINT},
    "circle": {"cx", "cy", "r", *PAINT},
    "line": {"x1", "y1", "x2", "y2", *PAINT},
    "path": {"d", *PAINT},
    "image": {"x", "y", "width", "height", "href", "preserveAspectRatio", *PAINT},
    "text": {"x", "y", "transform", *TYPESETTING, *PAINT},
    "tspan": {"dy", "font-size"},
}
UNSEEN = re.compile(r"class|role|tabindex|font-family|(aria|data)-[a-z-]+")
NUMBER = re.compile(r"[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)(e[-+]?[0-9]{1,3})?", re.IGNORECASE)
COLOUR = re.compile(r"#[0-9a-f]{6}", re.IGNORECASE)
COMMANDS = re.compile(r"[Mm][MmLlHhVvCcQqZz0-9eE+\-., ]*")
TURN = re.compile(r"rotate\(([^ ]+) ([^ ]+) ([^ ]+)\)")
PNG = "data:image/png;base64,"
ANCHORS = ("start", "middle", "end")
BOLD = ("600", "700", "bold")

Element = ElementTree.Element


def read(svg: bytes, software: str) -> Scene:
    """The figure of an SVG.

    Args:
        svg: as the browser writes it, without declarations.
        software: what made it.

    Raises:
        ValueError: it is something else, or too large.
    """
    root = _parsed(svg)
    wide, high = (_number(root, name, low=1, high=PAGE) for name in ("width", "height"))
    if root.get("viewBox", "").split() not in (
        [],
        ["0", "0", root.get("width"), root.get("height")],
    ):
        raise ValueError("expected a viewBox of the width and height")
    return Scene(
        wide * PIXEL,
        high * PIXEL,
        tuple(_items(root)),
        _line(root.findtext(f"{SPACE}title", "")),
        _line(root.findtext(f"{SPACE}desc", "")),
        software,
        COLOURS["light"].background,
    )


def _parsed(svg: bytes) -> Element:
    """The root; only what can be declared, such as entities, makes XML dangerous to parse."""
    try:
        text = svg.decode()
    except UnicodeDecodeError:
        raise ValueError("expected an SVG in UTF-8") from None
    if "<!" in text or "<?" in text:
        raise ValueError("expected an SVG without declarations and comments")
    if text.count("<") - text.count("</") > ELEMENTS:
        raise ValueError(f"expected at most {ELEMENTS} elements")
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError:
        raise ValueError("expected an SVG, well-formed") from None
    if root.tag != f"{SPACE}svg":
        raise ValueError("expected an SVG")
    return root


def _items(root: Element) -> Iterator[Item]:
    """What is drawn, in the order of the file."""
    if sum(len(path.get("d", "")) for path in root.iter(f"{SPACE}path")) > OUTLINES:
        raise ValueError(f"expected paths of at most {OUTLINES} characters")
    left = PIXELS
    for element in root.iter():
        tag = _tag(element)
        if tag == "image":
            raster = _raster(element)
            left -= raster.pixels.size // 3 * enlargement(raster) ** 2
            if left < 0:
                raise ValueError("expected smaller images")
            yield raster
        elif tag == "text":
            yield from _text(element)
        elif tag in SHAPES:
            yield from _path(element, SHAPES[tag](element))


def _tag(element: Element) -> str:
    """The name of an element, which has no attribute that is not understood."""
    tag = element.tag.removeprefix(SPACE)
    if tag not in ATTRIBUTES:
        raise ValueError(f"expected shapes, text and images, received <{tag[:40]}>")
    for name in element.attrib:
        if name not in ATTRIBUTES[tag] and not UNSEEN.fullmatch(name):
            raise ValueError(f"expected no attribute {name[:40]} of <{tag}>")
    return tag


# --- values ---------------------------------------------------------------------------------------


def _number(
    element: Element, name: str, default: str = "", low: float = -FARTHEST, high: float = FARTHEST
) -> float:
    return _checked(name, element.get(name, default), low, high)


def _checked(name: str, text: str, low: float = -FARTHEST, high: float = FARTHEST) -> float:
    """A number from `low` to `high`."""
    number = float(text) if len(text) <= 40 and NUMBER.fullmatch(text) else math.nan
    if not low <= number <= high:
        raise ValueError(f"expected {name} from {low:g} to {high:g}".replace("-", "−"))
    return number


def _colour(element: Element, name: str, default: str) -> str | None:
    """#rrggbb, or None for nothing."""
    text = element.get(name, default)
    if text in ("none", "transparent"):
        return None
    if not COLOUR.fullmatch(text):
        raise ValueError(f"expected #rrggbb or none as {name}")
    return text.lower()


def _choice(element: Element, name: str, *known: str) -> str:
    """One of a few words, by default the first."""
    text = element.get(name, known[0])
    if text not in known:
        raise ValueError(f"expected {name} to be one of {', '.join(known)}")
    return text


def _line(text: str) -> str:
    """A text in one line, as SVG shows it."""
    if len(text) > CHARACTERS:
        raise ValueError(f"expected texts of at most {CHARACTERS} characters")
    return re.sub("[ \t\r\n]+", " ", text).strip(" ")


# --- shapes ---------------------------------------------------------------------------------------


def _path(element: Element, steps: tuple[Step, ...]) -> Iterator[Path]:
    """A shape with its colours; nothing where it would not be seen."""
    opacity = _number(element, "opacity", "1", 0, 1)
    fill, stroke = _colour(element, "fill", "#000000"), _colour(element, "stroke", "none")
    thick = _number(element, "stroke-width", "1", 0) * PIXEL
    dash = [part for part in re.split("[ ,]+", element.get("stroke-dasharray", "none")) if part]
    lengths = [_checked("dashes", each, 0.1) * PIXEL for each in dash if each != "none"]
    if len(lengths) > DASHES:
        raise ValueError(f"expected at most {DASHES} lengths of dashes")
    rounded = _choice(element, "stroke-linecap", "butt", "round") == "round"
    if steps and opacity and (fill or (stroke and thick)):
        yield Path(steps, fill, stroke if thick else None, thick, tuple(lengths), rounded, opacity)


def _rect(element: Element) -> tuple[Step, ...]:
    x, y = (_number(element, name, "0") for name in ("x", "y"))
    wide, high = (_number(element, name, "0", 0) for name in ("width", "height"))
    if min(wide, high) < HAIRLINE and element.get("stroke", "none") == "none":
        return ()
    return _rounded(x, y, wide, high, _number(element, "rx", "0", 0))


def _circle(element: Element) -> tuple[Step, ...]:
    radius = _number(element, "r", "0", 0)
    x, y = (_number(element, name, "0") - radius for name in ("cx", "cy"))
    return _rounded(x, y, 2 * radius, 2 * radius, radius)


def _rounded(x: float, y: float, wide: float, high: float, radius: float) -> tuple[Step, ...]:
    """A rectangle with round corners, clockwise from its upper left one."""
    if not wide or not high:
        return ()
    r = min(radius, wide / 2, high / 2)
    corners = (
        (x, y, 1, 1),
        (x + wide, y, -1, 1),
        (x + wide, y + high, -1, -1),
        (x, y + high, 1, -1),
    )
    points: list[tuple[Point, ...]] = []
    for i, (left, top, across, down) in enumerate(corners):
        beside = [(left, top + r * down), (left, top + r * (1 - ROUND) * down)]
        above = [(left + r * across, top), (left + r * (1 - ROUND) * across, top)]
        first, last = (above, beside) if i % 2 else (beside, above)
        points.append((first[0], first[1], last[1], last[0]))
    steps = [_step("M", points[0][0])]
    for begin, *others in points:
        steps.append(_step("L", begin))
        if r:
            steps.append(_step("C", *others))
    return (*steps, ("Z",))


def _straight(element: Element) -> tuple[Step, ...]:
    x, y, x2, y2 = (_number(element, name, "0") for name in ("x1", "y1", "x2", "y2"))
    return _step("M", (x, y)), _step("L", (x2, y2))


def _curved(element: Element) -> tuple[Step, ...]:
    text = element.get("d", "").strip()
    if not text:
        return ()
    pen = RecordingPen()
    try:
        if not COMMANDS.fullmatch(text):
            raise ValueError
        parse_path(text, pen)
    except (ValueError, IndexError, TypeError):
        raise ValueError("expected a path of M, L, H, V, C, Q and Z") from None
    steps = tuple(_recorded(pen))
    if not all(abs(number) <= FARTHEST for _, *numbers in steps for number in numbers):
        raise ValueError(f"expected coordinates of a path within ±{FARTHEST:g}")
    return steps


def _recorded(pen: RecordingPen) -> Iterator[Step]:
    """What a pen noted; quadratic curves as cubic ones."""
    names = {"moveTo": "M", "lineTo": "L", "curveTo": "C", "qCurveTo": "C", "closePath": "Z"}
    last = (0.0, 0.0)
    for command, points in pen.value:
        if command == "qCurveTo":
            (x, y), end = points
            near = [
                (each[0] + 2 * (x - each[0]) / 3, each[1] + 2 * (y - each[1]) / 3)
                for each in (last, end)
            ]
            points = (*near, end)
        if command in names:
            yield _step(names[command], *points)
        last = points[-1] if points else last


SHAPES = {"rect": _rect, "circle": _circle, "line": _straight, "path": _curved}


def _step(command: str, *points: Point) -> Step:
    """A step in points of paper."""
    return (command, *(number * PIXEL for point in points for number in point))


# --- text and images ------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Run:
    """A piece of a text in one size, and how far its line is below the text's own."""

    text: str
    size: float
    below: float


def _text(element: Element) -> Iterator[Text]:
    x, y = (_number(element, name, "0") for name in ("x", "y"))
    opacity, colour = _number(element, "opacity", "1", 0, 1), _colour(element, "fill", "#000000")
    anchor = cast("Anchor", _choice(element, "text-anchor", *ANCHORS))
    shift = BASELINES[_choice(element, "dominant-baseline", "auto", "central", "middle")]
    bold = _choice(element, "font-weight", "400", *BOLD) in BOLD
    angle = _angle(element, x, y)
    across, down = math.cos(math.radians(angle)), math.sin(math.radians(angle))
    runs = _runs(element)
    if not colour or not opacity:
        return
    whole = sum(width(run.text, run.size) for run in runs)
    before = -whole * ANCHORS.index(anchor) / 2
    for run in runs:
        below = run.below + shift * run.size
        # a run alone keeps its anchor: an editor that changes it keeps its place
        along = before if len(runs) > 1 else 0.0
        left, top = x + along * across - below * down, y + along * down + below * across
        where = anchor if len(runs) == 1 else "start"
        style: Any = (colour, where, angle, bold, opacity)
        yield Text(left * PIXEL, top * PIXEL, run.text, run.size * PIXEL, *style)
        before += width(run.text, run.size)


def _runs(element: Element) -> list[_Run]:
    """The pieces of a text, without the blanks at its ends."""
    size = _number(element, "font-size", "16", 0)
    runs, below = [_Run(element.text or "", size, 0.0)], 0.0
    for span in element:
        below += _number(span, "dy", "0")
        font_size = _number(span, "font-size", str(size), 0)
        runs += [_Run(span.text or "", font_size, below), _Run(span.tail or "", size, below)]
    if len(element) and any(len(span) for span in element):
        raise ValueError("expected spans of text without others inside")
    _line("".join(run.text for run in runs))
    visible_runs = [run for run in runs if run.text.strip()]
    return [
        _Run(
            _spaced(run.text, run is visible_runs[0], run is visible_runs[-1]),
            run.size * TYPE,
            run.below,
        )
        for run in visible_runs
    ]


def _spaced(text: str, first: bool, last: bool) -> str:
    text = re.sub("[ \t\r\n]+", " ", text)
    text = text.lstrip(" ") if first else text
    return text.rstrip(" ") if last else text


def _angle(element: Element, x: float, y: float) -> float:
    """By how many degrees a text is turned about its own place."""
    text = element.get("transform")
    if text is None:
        return 0.0
    match = TURN.fullmatch(text)
    if not match or [_checked("turns", each) for each in match.groups()[1:]] != [x, y]:
        raise ValueError("expected text turned about its own place")
    return _checked("turns", match[1], -360, 360)


def _raster(element: Element) -> Raster:
    x, y = (_number(element, name, "0") * PIXEL for name in ("x", "y"))
    wide, high = (_number(element, name, "", 0.1) * PIXEL for name in ("width", "height"))
    _choice(element, "preserveAspectRatio", "none")
    _choice(element, "opacity", "1")
    link = element.get("href", "")
    try:
        if not link.startswith(PNG):
            raise ValueError
        data = base64.b64decode(link[len(PNG) :], validate=True)
        image = Image.open(io.BytesIO(data), formats=("PNG",))
        if image.width * image.height > PIXELS:
            raise ValueError
        pixels = np.asarray(image.convert("RGB"))
    except (ValueError, OSError, SyntaxError, binascii.Error, Image.DecompressionBombError):
        raise ValueError("expected images as PNG in base64, not too large") from None
    return Raster((x, y, wide, high), pixels)
