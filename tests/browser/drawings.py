"""A drawing saved as SVG and as PDF: both have the same words at the same places and look alike."""

import io
from pathlib import Path

import numpy as np
import pypdfium2
from PIL import Image, ImageFilter
from playwright.sync_api import Page

PIXEL = 0.75  # points
NEAR = 2  # points: fonts differ
LARGE, PART, MEAN = 40, 0.02, 5  # of 255, of the area, of 255: twice what other fonts change
SIZE = "['width', 'height'].map((name) => document.rootElement[name].baseVal.value)"
# text that is not turned: where it is anchored, and its middle
SEEN = """[...document.querySelectorAll("text:not([transform]):not([opacity='0'])")]"""
PLACES = (
    f"{SEEN}.filter((text) => text.textContent)"
    + """.map((text) => {
  const { left, right, top, bottom } = text.getBoundingClientRect();
  const anchor = getComputedStyle(text).textAnchor;
  const at = { start: left, middle: (left + right) / 2, end: right }[anchor];
  return [text.textContent, anchor, at, (top + bottom) / 2];
})"""
)


def saved(page: Page, button: str, folder: Path) -> Path:
    """The file that a button saves."""
    with page.expect_download() as download:
        page.get_by_role("button", name=button, exact=True).click()
    path = folder / download.value.suggested_filename
    download.value.save_as(path)
    return path


def agree(page: Page, svg: Path, pdf: Path) -> None:
    """The page leaves for the SVG."""
    page.goto(svg.as_uri())
    wide, high = page.evaluate(SIZE)
    page.set_viewport_size({"width": round(wide), "height": round(high)})
    paper = pypdfium2.PdfDocument(pdf)[0]
    np.testing.assert_allclose(paper.get_size(), (wide * PIXEL, high * PIXEL), atol=0.02)
    texts = page.evaluate(PLACES)
    assert len(texts) > 10
    far = [text for text, *place in texts if not _is_near(paper, text, *place)]
    assert not far, f"not at their places: {far}"
    screen = Image.open(io.BytesIO(page.screenshot()))
    drawn = paper.render(scale=4).to_pil().resize(screen.size)
    first, second = (
        np.asarray(image.convert("RGB").filter(ImageFilter.GaussianBlur(2)), float)
        for image in (screen, drawn)
    )
    apart = np.abs(first - second).max(axis=2)
    assert (apart > LARGE).mean() < PART
    assert apart.mean() < MEAN


def _is_near(paper: pypdfium2.PdfPage, text: str, anchor: str, x: float, y: float) -> bool:
    """Whether a text is on paper where it is on the screen."""
    words = paper.get_textpage()
    found = words.search(text, match_case=True)
    while match := found.get_next():
        first, count = match
        boxes = [words.get_charbox(first + i, loose=True) for i in range(count)]
        left, right = min(box[0] for box in boxes), max(box[2] for box in boxes)
        at = {"start": left, "middle": (left + right) / 2, "end": right}[anchor]
        middle = paper.get_height() - (boxes[0][1] + boxes[0][3]) / 2
        if abs(at - x * PIXEL) <= NEAR and abs(middle - y * PIXEL) <= NEAR:
            return True
    return False
