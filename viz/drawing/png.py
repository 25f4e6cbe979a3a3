"""A scene as PNG at the resolution of print."""

import io
import math
import pathlib
from collections.abc import Sequence
from functools import cache
from itertools import chain, cycle, pairwise

from PIL import Image, ImageDraw, ImageFont, PngImagePlugin

from viz.drawing.letters import runs, width
from viz.drawing.pdf import SHARES
from viz.drawing.scene import BOLD, Fill, Item, Path, Point, Raster, Scene, Stroke, Text, polylines
from viz.theme import rgb

DPI = 300
MOST = 12_000_000  # pixels; a larger figure has fewer of them an inch
FINER = 2  # lines and letters are drawn this much larger, for smooth edges


def png(scene: Scene, dpi: float = DPI) -> bytes:
    """The file, with title and description in its metadata."""
    dpi = min(dpi, int(72 * math.sqrt(MOST / (scene.width * scene.height))))
    scale = FINER * dpi / 72
    size = (round(scene.width * scale), round(scene.height * scale))
    picture = Image.new("RGB", size, scene.background)
    for item in scene.items:
        _draw(picture, item, scale)
    about = PngImagePlugin.PngInfo()
    about.add_itxt("Title", scene.title)
    about.add_itxt("Description", scene.description)
    about.add_itxt("Software", scene.software)
    file = io.BytesIO()
    picture.reduce(FINER).save(file, "PNG", dpi=(dpi, dpi), pnginfo=about, compress_level=6)
    return file.getvalue()


def _draw(picture: Image.Image, item: Item, scale: float) -> None:
    match item:
        case Fill(boxes, colour, opacity):
            pen = ImageDraw.Draw(picture, "RGBA")
            for x, y, wide, high in boxes:
                left, top = round(x * scale), round(y * scale)
                right, bottom = round((x + wide) * scale), round((y + high) * scale)
                pen.rectangle((left, top, right - 1, bottom - 1), _colour(colour, opacity))
        case Stroke(segments, colour, thickness, opacity):
            pen = ImageDraw.Draw(picture, "RGBA")
            pixels = max(1, round(thickness * scale))
            for segment in segments:
                pen.line([n * scale for n in segment], _colour(colour, opacity), pixels)
        case Path():
            _trace(picture, item, scale)
        case Text():
            _write(picture, item, scale)
        case Raster((x, y, wide, high)):
            left, top = round(x * scale), round(y * scale)
            size = (round((x + wide) * scale) - left, round((y + high) * scale) - top)
            pixels = Image.fromarray(item.pixels).resize(size, Image.Resampling.NEAREST)
            picture.paste(pixels, (left, top))


def _trace(picture: Image.Image, path: Path, scale: float) -> None:
    """Draws a path; each colour on a mask, so that a faint line may cross itself."""
    lines = [[(x * scale, y * scale) for x, y in line] for line in polylines(path)]
    thick = max(1, round(path.width * scale))
    corner = [math.floor(min(each)) - thick for each in zip(*chain(*lines), strict=True)]
    end = [math.ceil(max(each)) + thick for each in zip(*chain(*lines), strict=True)]
    lines = [[(x - corner[0], y - corner[1]) for x, y in line] for line in lines]
    for colour, draw in ((path.fill, _inside), (path.stroke, _along)):
        if colour:
            mask = Image.new("L", (end[0] - corner[0], end[1] - corner[1]))
            for line in lines:
                draw(ImageDraw.Draw(mask), line, path, scale)
            faint = mask.point([round(path.opacity * level) for level in range(256)])
            picture.paste(rgb(colour), (*corner, *end), faint)


def _inside(pen: ImageDraw.ImageDraw, line: list[Point], path: Path, scale: float) -> None:
    if len(line) > 2:
        pen.polygon(line, 255)


def _along(pen: ImageDraw.ImageDraw, line: list[Point], path: Path, scale: float) -> None:
    thick = max(1, round(path.width * scale))
    for dash in _dashes(line, [length * scale for length in path.dash]):
        pen.line(dash, 255, thick, joint="curve")
        for end in (dash[0], dash[-1]) if path.rounded else ():
            pen.circle(end, thick / 2, 255)


def _dashes(line: list[Point], lengths: Sequence[float]) -> list[list[Point]]:
    """The parts of a line that are drawn; all of it where there are no dashes."""
    if not any(lengths):
        return [line]
    parts, ends = [[line[0]]], cycle(lengths)
    left, drawn = next(ends), True
    for (x, y), end in pairwise(line):
        far = math.dist((x, y), end)
        while far > left:
            x, y = x + (end[0] - x) * left / far, y + (end[1] - y) * left / far
            far -= left
            left, drawn = next(ends), not drawn
            if drawn:
                parts.append([(x, y)])
            else:
                parts[-1].append((x, y))
        left -= far
        if drawn:
            parts[-1].append(end)
    return parts


def _write(picture: Image.Image, text: Text, scale: float) -> None:
    """Draws a line of text; a slanted or faint one by a mask."""
    start = -SHARES[text.anchor] * width(text.text, text.size) * scale
    size = round(text.size * scale)
    bold = BOLD * text.size * scale / 2 if text.bold else 0
    if not text.angle and text.opacity == 1:
        place = (text.x * scale + start, text.y * scale)
        _letters(ImageDraw.Draw(picture), text.text, place, size, rgb(text.colour), bold)
        return
    half = math.ceil(width(text.text, text.size) * scale) + size
    mask = Image.new("L", (2 * half, 2 * half))
    _letters(ImageDraw.Draw(mask), text.text, (half + start, half), size, 255, bold)
    turned = mask.rotate(-text.angle, Image.Resampling.BICUBIC)
    faint = turned.point([round(text.opacity * level) for level in range(256)])
    corner = (round(text.x * scale) - half, round(text.y * scale) - half)
    picture.paste(rgb(text.colour), (*corner, corner[0] + 2 * half, corner[1] + 2 * half), faint)


def _letters(
    pen: ImageDraw.ImageDraw,
    text: str,
    place: tuple[float, float],
    size: int,
    colour: int | tuple[int, int, int],
    bold: float,
) -> None:
    x, y = place
    for face, run in runs(text):
        font = _font(face.path, face.index, size)
        pen.text((x, y), run, colour, font, anchor="ls", stroke_width=bold)
        x += size * sum(face.advances[letter] for letter in run)


@cache
def _font(path: pathlib.Path, index: int, size: int) -> ImageFont.FreeTypeFont:
    # the basic layout: letters are in visual order already
    return ImageFont.truetype(path, size, index, layout_engine=ImageFont.Layout.BASIC)


def _colour(colour: str, opacity: float) -> tuple[int, int, int, int]:
    return (*rgb(colour), round(255 * opacity))
