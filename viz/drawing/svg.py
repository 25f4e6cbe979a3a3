"""A scene as SVG 1.1: text stays text, every shape can be edited in a drawing program."""

import base64
import io
from html import escape

from PIL import Image

from viz.drawing.letters import FAMILIES
from viz.drawing.scene import Fill, Item, Raster, Scene, Stroke, Text, enlarged


def svg(scene: Scene) -> bytes:
    """The file."""
    size = f'width="{_n(scene.width)}pt" height="{_n(scene.height)}pt"'
    box = f'viewBox="0 0 {_n(scene.width)} {_n(scene.height)}"'
    parts = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
        f' version="1.1" {size} {box} font-family="{FAMILIES}">',
        f"<title>{_text(scene.title)}</title>",
        f"<desc>{_text(scene.description)} Made with {_text(scene.software)}.</desc>",
        f'<rect width="100%" height="100%" fill="{scene.background}"/>',
        *(_item(item) for item in scene.items),
        "</svg>",
    ]
    return ("\n".join(parts) + "\n").encode()


def _item(item: Item) -> str:
    match item:
        case Fill(boxes, colour, opacity):
            path = "".join(f"M{_n(x)} {_n(y)}h{_n(w)}v{_n(h)}h{_n(-w)}z" for x, y, w, h in boxes)
            faint = "" if opacity == 1 else f' fill-opacity="{_n(opacity)}"'
            return f'<path d="{path}" fill="{colour}"{faint} shape-rendering="crispEdges"/>'
        case Stroke(segments, colour, width, opacity):
            path = "".join(f"M{_n(a)} {_n(b)}L{_n(c)} {_n(d)}" for a, b, c, d in segments)
            faint = "" if opacity == 1 else f' stroke-opacity="{_n(opacity)}"'
            line = f'stroke="{colour}" stroke-width="{_n(width)}"{faint}'
            return f'<path d="{path}" fill="none" {line}/>'
        case Text(x, y, text, size, colour, anchor, angle, bold):
            turn = f' transform="rotate({_n(angle)} {_n(x)} {_n(y)})"' if angle else ""
            place = f'x="{_n(x)}" y="{_n(y)}" text-anchor="{anchor}"{turn}'
            style = f'font-size="{_n(size)}" fill="{colour}"'
            style += ' font-weight="bold"' if bold else ""
            return f"<text {place} {style}>{_text(text)}</text>"
        case Raster((x, y, width, height)):
            place = f'x="{_n(x)}" y="{_n(y)}" width="{_n(width)}" height="{_n(height)}"'
            link = f'xlink:href="data:image/png;base64,{_png(item)}"'
            how = 'preserveAspectRatio="none" image-rendering="optimizeSpeed"'
            return f"<image {place} {how} {link}/>"


def _png(raster: Raster) -> str:
    file = io.BytesIO()
    Image.fromarray(enlarged(raster)).save(file, "PNG")
    return base64.b64encode(file.getvalue()).decode("ascii")


def _text(text: str) -> str:
    """Text for an element; characters that XML cannot hold were made visible before."""
    return escape(text, quote=False)


def _n(number: float) -> str:
    return f"{number:.2f}".rstrip("0").rstrip(".") if number else "0"
