"""Paths, bold and faint text in each kind of file: the same picture, by readers of their own."""

import io
from collections.abc import Callable
from xml.etree import ElementTree

import numpy as np
import pypdfium2
import pytest
from PIL import Image

from viz.drawing.pdf import pdf
from viz.drawing.png import png
from viz.drawing.scene import Item, Path, Scene, Text
from viz.drawing.svg import svg

WIDE, HIGH = 60, 40
PER_POINT = 10  # pixels
Pixels = Callable[[float, float], tuple[int, int, int]]


def scene(*items: Item) -> Scene:
    return Scene(WIDE, HIGH, items, "Title", "What", "tests", "#ffffff")


def on_paper(*items: Item) -> np.ndarray:
    page = pypdfium2.PdfDocument(pdf(scene(*items)))[0]
    return np.asarray(page.render(scale=PER_POINT).to_pil().convert("RGB"))


def on_a_screen(*items: Item) -> np.ndarray:
    picture = Image.open(io.BytesIO(png(scene(*items), dpi=72 * PER_POINT)))
    return np.asarray(picture.convert("RGB"))


DRAWN = pytest.mark.parametrize("drawn", [on_paper, on_a_screen])


def ink(pixels: np.ndarray, x: float, y: float) -> bool:
    """Whether it is dark there."""
    return bool(pixels[round(y * PER_POINT), round(x * PER_POINT)].max() < 128)


@DRAWN
def test_a_triangle_is_filled_inside_and_not_outside(drawn) -> None:
    steps = (("M", 10.0, 10.0), ("L", 30.0, 10.0), ("L", 10.0, 30.0), ("Z",))
    pixels = drawn(Path(steps, fill="#000000"))
    assert ink(pixels, 12, 12)
    assert not ink(pixels, 25, 25)
    dark = (pixels.max(axis=2) < 128).sum() / PER_POINT**2
    assert dark == pytest.approx(200, rel=0.01)  # half of 20 × 20


@DRAWN
def test_a_curve_goes_where_its_formula_says(drawn) -> None:
    """At its middle a cubic curve is at (a + 3b + 3c + d) / 8."""
    curve = (("M", 5.0, 35.0), ("C", 5.0, 5.0, 45.0, 5.0, 55.0, 35.0))
    pixels = drawn(Path(curve, stroke="#000000", width=1))
    middle = (5 + 15 + 135 + 55) / 8, (35 + 15 + 15 + 35) / 8
    assert ink(pixels, *middle)
    assert not ink(pixels, middle[0], middle[1] + 2)
    assert not ink(pixels, 30, 35)  # neither filled nor closed


@DRAWN
def test_dashes_and_gaps_in_turn_along_a_corner(drawn) -> None:
    """Of 4 and 6 points: dashes begin every 10 points, also round the corner after 25."""
    line = (("M", 5.0, 5.0), ("L", 30.0, 5.0), ("L", 30.0, 35.0))
    pixels = drawn(Path(line, stroke="#000000", width=2, dash=(4, 6)))
    along = [0.5 + step for step in range(54)]
    found = [ink(pixels, 5 + min(at, 25), 5 + max(0, at - 25)) for at in along]
    assert found == [at % 10 < 4 for at in along]


@DRAWN
def test_round_caps_are_beyond_the_ends_and_others_are_not(drawn) -> None:
    line = (("M", 20.0, 20.0), ("L", 40.0, 20.0))
    for rounded in (True, False):
        pixels = drawn(Path(line, stroke="#000000", width=8, rounded=rounded))
        assert ink(pixels, 17, 20) is rounded
        assert not ink(pixels, 16.5, 16.5)  # a square one would be there
        assert ink(pixels, 21, 17)


@DRAWN
def test_a_faint_line_is_as_faint_where_it_crosses_itself(drawn) -> None:
    cross = (("M", 10.0, 20.0), ("L", 50.0, 20.0), ("L", 50.0, 30.0), ("L", 30.0, 10.0))
    pixels = drawn(Path(cross, fill=None, stroke="#ff0000", width=4, opacity=0.4))
    for x in (20, 40):
        assert pixels[20 * PER_POINT, x * PER_POINT] == pytest.approx((255, 153, 153), abs=2)


@DRAWN
def test_bold_text_has_more_ink_at_the_same_place_and_faint_text_less(drawn) -> None:
    def dark(**look) -> tuple[float, float]:
        pixels = 255 - drawn(Text(30, 20, "Atten", 10, "#000000", "middle", **look)).min(axis=2)
        columns = pixels.sum(axis=0, dtype=float)
        return float(columns.sum()), float((columns * np.arange(columns.size)).sum())

    plain, bold, faint = dark(), dark(bold=True), dark(opacity=0.5)
    assert 1.1 < bold[0] / plain[0] < 1.6
    assert faint[0] / plain[0] == pytest.approx(0.5, abs=0.02)
    for total, moment in (bold, faint):
        assert moment / total == pytest.approx(plain[1] / plain[0], abs=0.2 * PER_POINT)
    assert dark(angle=90.0, bold=True)[0] == pytest.approx(bold[0], rel=0.05)


def test_paper_and_screen_agree() -> None:
    curve = (("M", 5.0, 35.0), ("C", 5.0, 5.0, 45.0, 5.0, 55.0, 35.0), ("Z",))
    items = (
        Path(curve, "#99ccff", "#3144b6", 1.5, (3, 2), rounded=True, opacity=0.7),
        Text(30, 30, "q · k", 9, "#99210e", "middle", -30.0, bold=True),
    )
    apart = np.abs(on_paper(*items).astype(float) - on_a_screen(*items))
    assert apart.mean() < 1.5


def test_svg_has_each_as_one_element_with_its_look() -> None:
    curve = (("M", 5.0, 35.0), ("C", 5.0, 5.0, 45.0, 5.0, 55.0, 35.0), ("Z",))
    root = ElementTree.fromstring(
        svg(
            scene(
                Path(curve, "#99ccff", "#3144b6", 1.5, (3, 2), rounded=True, opacity=0.7),
                Path(curve[:2], stroke="#3144b6"),
                Text(30, 30, "<b>", 9, "#99210e", bold=True, opacity=0.5),
            )
        )
    )
    first, second, text = list(root)[-3:]
    assert first.attrib == {
        "d": "M5 35C5 5 45 5 55 35Z",
        "fill": "#99ccff",
        "stroke": "#3144b6",
        "stroke-width": "1.5",
        "stroke-dasharray": "3 2",
        "stroke-linecap": "round",
        "opacity": "0.7",
    }
    assert (second.get("fill"), second.get("stroke-dasharray")) == ("none", None)
    assert (text.text, text.get("font-weight"), text.get("opacity")) == ("<b>", "bold", "0.5")


def test_a_pdf_made_twice_is_the_same() -> None:
    curve = (("M", 5.0, 35.0), ("C", 5.0, 5.0, 45.0, 5.0, 55.0, 35.0), ("Z",))
    items = (
        Path(curve, "#99ccff", "#3144b6", 1.5, (3, 2), opacity=0.7),
        Text(1, 9, "a", 9, "#99210e", bold=True, opacity=0.5),
    )
    assert pdf(scene(*items)) == pdf(scene(*items))
