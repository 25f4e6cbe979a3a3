"""A scene as PNG at the resolution of print."""

import io
import math
from functools import cache
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont, PngImagePlugin

from viz.drawing.letters import runs, width
from viz.drawing.pdf import SHARES
from viz.drawing.scene import BOLD, Fill, Item, Raster, Scene, Stroke, Text
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
        case Text():
            _write(picture, item, scale)
        case Raster((x, y, wide, high)):
            left, top = round(x * scale), round(y * scale)
            size = (round((x + wide) * scale) - left, round((y + high) * scale) - top)
            pixels = Image.fromarray(item.pixels).resize(size, Image.Resampling.NEAREST)
            picture.paste(pixels, (left, top))


def _write(picture: Image.Image, text: Text, scale: float) -> None:
    """Draws a line of text; a slanted one by a mask."""
    start = -SHARES[text.anchor] * width(text.text, text.size) * scale
    size = round(text.size * scale)
    bold = BOLD * text.size * scale / 2 if text.bold else 0
    if not text.angle:
        place = (text.x * scale + start, text.y * scale)
        _letters(ImageDraw.Draw(picture), text.text, place, size, rgb(text.colour), bold)
        return
    half = math.ceil(width(text.text, text.size) * scale) + size
    mask = Image.new("L", (2 * half, 2 * half))
    _letters(ImageDraw.Draw(mask), text.text, (half + start, half), size, 255, bold)
    turned = mask.rotate(-text.angle, Image.Resampling.BICUBIC)
    corner = (round(text.x * scale) - half, round(text.y * scale) - half)
    picture.paste(rgb(text.colour), (*corner, corner[0] + 2 * half, corner[1] + 2 * half), turned)


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
def _font(path: Path, index: int, size: int) -> ImageFont.FreeTypeFont:
    # the basic layout: letters are in visual order already
    return ImageFont.truetype(path, size, index, layout_engine=ImageFont.Layout.BASIC)


def _colour(colour: str, opacity: float) -> tuple[int, int, int, int]:
    return (*rgb(colour), round(255 * opacity))
