"""Bold and turned text in each kind of file: the same picture, by readers of their own."""

import io
from xml.etree import ElementTree

import numpy as np
import pypdfium2
import pytest
from PIL import Image

from viz.drawing.pdf import pdf
from viz.drawing.png import png
from viz.drawing.scene import Item, Scene, Text
from viz.drawing.svg import svg

WIDE, HIGH = 60, 40
PER_POINT = 10  # pixels


def scene(*items: Item) -> Scene:
    return Scene(WIDE, HIGH, items, "Title", "What", "tests", "#ffffff")


def on_paper(*items: Item) -> np.ndarray:
    page = pypdfium2.PdfDocument(pdf(scene(*items)))[0]
    return np.asarray(page.render(scale=PER_POINT).to_pil().convert("RGB"))


def on_a_screen(*items: Item) -> np.ndarray:
    picture = Image.open(io.BytesIO(png(scene(*items), dpi=72 * PER_POINT)))
    return np.asarray(picture.convert("RGB"))


DRAWN = pytest.mark.parametrize("drawn", [on_paper, on_a_screen])


@DRAWN
def test_bold_text_has_more_ink_at_the_same_place(drawn) -> None:
    def dark(**look) -> tuple[float, float]:
        pixels = 255 - drawn(Text(30, 20, "Atten", 10, "#000000", "middle", **look)).min(axis=2)
        columns = pixels.sum(axis=0, dtype=float)
        return float(columns.sum()), float((columns * np.arange(columns.size)).sum())

    plain, (total, moment) = dark(), dark(bold=True)
    assert 1.1 < total / plain[0] < 1.6
    assert moment / total == pytest.approx(plain[1] / plain[0], abs=0.2 * PER_POINT)
    assert dark(angle=90.0, bold=True)[0] == pytest.approx(total, rel=0.05)


TURNED = Text(30, 30, "q · k <b>", 9, "#99210e", "middle", -30.0, bold=True)


def test_paper_and_screen_agree() -> None:
    apart = np.abs(on_paper(TURNED).astype(float) - on_a_screen(TURNED))
    assert apart.mean() < 1.5


def test_svg_has_the_look_of_a_text() -> None:
    text = list(ElementTree.fromstring(svg(scene(TURNED))))[-1]
    assert text.text == "q · k <b>"
    assert (text.get("font-weight"), text.get("transform")) == ("bold", "rotate(-30 30 30)")


def test_a_pdf_made_twice_is_the_same() -> None:
    assert pdf(scene(TURNED)) == pdf(scene(TURNED))
