"""The image view in a browser, without Streamlit: what is seen, what is read out, what is asked."""

import base64
import io
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from headscope_views.standalone import page as standalone
from PIL import Image
from playwright.sync_api import Page, expect

from tests.browser.image_pages import Source, random_source
from viz import theme

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("console")]

SIZES = {"wide": {"width": 1280, "height": 900}, "phone": {"width": 390, "height": 844}}
GRID = (5, 7)
DIM = ".hs-stage.hs-dim"


class View:
    """The page, and a server that answers when told to."""

    def __init__(self, page: Page, folder: Path, source: Source, **select: Any) -> None:
        self.page, self.source = page, source
        self.answered: set[int] = set()
        file = folder / "image.html"
        html = standalone(source.first(**select), view="image", listen=True)
        file.write_text(html, encoding="utf-8")
        page.goto(file.as_uri())
        self.root = page.locator(".headscope")
        self.photo, self.tiles = page.locator(".hs-photo"), page.locator(".hs-tiles")
        self.words = page.locator(".hs-image-grid section").nth(0).locator(".hs-read")
        self.weight = page.locator(".hs-image-grid section").nth(1).locator(".hs-read")
        expect(page.locator(".headscope[data-painted]")).to_have_count(1)

    def asks(self) -> list[dict[str, Any]]:
        events = self.page.evaluate("headscope.events")
        asked = {event["ask"]["id"]: event["ask"] for event in events if event["ask"]}
        return [asked[number] for number in sorted(asked)]

    def layers(self) -> list[list[int]]:
        """The layers of every question for some."""
        return [[part[0] for part in ask["maps"]] for ask in self.asks() if ask["maps"]]

    def serve(self, there: Callable[[], Any], seconds: float = 5) -> None:
        """Answers every question until something is the case."""
        if not self.serve_for(seconds, there):
            raise AssertionError("it did not come about in time")

    def serve_for(self, seconds: float, there: Callable[[], Any] = lambda: False) -> bool:
        """Answers every question for so long, or until something is the case: whether it is."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if there():
                return True
            for ask in self.asks():
                if ask["id"] not in self.answered:
                    self.answered.add(ask["id"])
                    blob = base64.b64encode(self.source.answer(ask)).decode()
                    self.page.evaluate("headscope.update", blob)
            self.page.wait_for_timeout(20)
        return False

    def point(self, patch: int) -> None:
        """Moves the mouse over a patch of the large picture."""
        box = self.photo.bounding_box()
        assert box
        row, col = divmod(patch, self.source.grid[1])
        x = box["x"] + (col + 0.5) * box["width"] / self.source.grid[1]
        y = box["y"] + (row + 0.5) * box["height"] / self.source.grid[0]
        self.page.mouse.move(x, y)

    def token(self) -> str | None:
        return self.root.get_attribute("data-token")


@pytest.fixture
def view(page: Page, tmp_path: Path) -> Callable[..., View]:
    def opened(source: Source, size: str = "wide", mode: Any = "light", **select: Any) -> View:
        page.set_viewport_size(SIZES[size])  # pyright: ignore[reportArgumentType]
        page.emulate_media(color_scheme=mode)
        return View(page, tmp_path, source, **select)

    return opened


def largest(weights: np.ndarray, prefix: int) -> int:
    return int(weights[prefix:].argmax())


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("mode", theme.MODES)
def test_pointing_at_a_patch_reads_the_array(view, size: str, mode: str):
    source = random_source(2, 3, GRID, registers=2)
    seen = view(source, size, mode, site=1, head=2)
    seen.photo.scroll_into_view_if_needed()
    seen.point(11)
    expect(seen.root).to_have_attribute("data-token", str(11 + 3))
    weights = source.weights[1, 2, 11 + 3]
    most = largest(weights, 3)
    named = f"Patch 11 (row 1, column 4): most to patch {most} "
    expect(seen.words).to_contain_text(named)
    seen.serve(lambda: "≈" not in (seen.words.text_content() or "≈"))
    expect(seen.words).to_contain_text(f"{weights[3 + most]:.5f}")
    parts = seen.page.locator(".hs-parts")
    expect(parts).to_contain_text(f"class {100 * weights[0]:.1f} %")
    expect(parts).to_contain_text(f"registers {100 * weights[1:3].sum():.1f} %")
    assert seen.root.get_attribute("data-mode") == mode
    assert seen.page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_who_looks_at_a_patch(view):
    source = random_source(1, 2, GRID)
    seen = view(source, direction="in", token=9, head=1)
    seen.serve(lambda: "≈" not in (seen.words.text_content() or "≈"))
    column = source.weights[0, 1, :, 9]
    most = largest(column, 1)
    expect(seen.words).to_contain_text(f"most from patch {most} ")
    expect(seen.words).to_contain_text(f"{column[1 + most]:.5f}")
    expect(seen.page.locator(".hs-parts")).to_contain_text(f"in all {column.sum():.3f}")


def test_before_the_exact_numbers_come_it_says_about(view):
    source = random_source(1, 2, GRID)
    seen = view(source, token=9)
    words = seen.words.text_content() or ""
    rough = float(words.split("≈")[1])
    # eight bits: half a step of the square-root scale at its steepest
    assert abs(rough - source.weights[0, 0, 9, 1:].max()) <= source.weights[0, 0, 9].max() / 255


def test_a_head_and_a_patch_change_ask_for_no_layer(view):
    seen = view(random_source(1, 5, GRID))
    before = seen.root.get_attribute("data-painted")
    seen.tiles.focus()
    seen.page.keyboard.press("ArrowRight")
    expect(seen.root).to_have_attribute("data-head", "1")
    seen.point(20)
    expect(seen.root).to_have_attribute("data-token", "21")
    assert seen.root.get_attribute("data-painted") != before
    assert all(ask["maps"] == [] for ask in seen.asks())


def test_a_layer_that_is_not_here_is_one_question_and_the_old_picture_stays_until_it_comes(view):
    seen = view(random_source(3, 2, GRID))
    seen.page.get_by_role("combobox", name="Layer").select_option("2")
    expect(seen.root).to_have_attribute("data-site", "2")
    expect(seen.page.locator(DIM)).to_have_count(2)
    assert seen.asks()[-1]["maps"] == [[2, "layer", 0, 36, 0, 36]]
    seen.serve(lambda: seen.page.locator(DIM).count() == 0)
    assert sum(ask["maps"] == [[2, "layer", 0, 36, 0, 36]] for ask in seen.asks()) == 1


def test_the_nearest_layers_come_ahead_one_a_message_and_are_there_at_once(view):
    seen = view(random_source(5, 2, GRID), site=2)
    seen.serve(lambda: len(seen.layers()) == 4)
    assert seen.layers() == [[3], [1], [4], [0]]
    seen.page.get_by_role("button", name="Previous layer").click()
    expect(seen.root).to_have_attribute("data-site", "1")
    assert seen.page.locator(DIM).count() == 0
    seen.page.wait_for_timeout(100)
    assert len(seen.layers()) == 4


def test_no_more_than_4_mib_of_layers_come_ahead(view):
    seen = view(random_source(14, 12, (13, 13)))
    most = 2**22 // (12 * 170 * 170)  # a byte a weight
    assert most < 13
    seen.serve(lambda: len(seen.layers()) == most, 40)
    seen.serve_for(1.0)
    assert len(seen.layers()) == most


@pytest.mark.parametrize("size", SIZES)
def test_pointing_moves_nothing_on_the_page(view, size):
    seen = view(random_source(1, 3, GRID, registers=1), size)
    seen.photo.scroll_into_view_if_needed()
    places = set()
    for patch in (0, 34, 11, 20):
        seen.point(patch)
        expect(seen.root).to_have_attribute("data-token", str(patch + 2))
        boxes = [part.bounding_box() for part in (seen.photo, seen.tiles)]
        places.add(tuple(box["y"] for box in boxes if box))
    assert len(places) == 1


def test_walking_with_the_keyboard(view):
    source = random_source(1, 2, GRID, registers=1)
    seen = view(source)
    seen.photo.focus()
    for key, token in [
        *[("ArrowRight", 1), ("ArrowDown", 2), ("ArrowRight", 3), ("ArrowDown", 10)],
        *[("ArrowUp", 3), ("ArrowUp", 1), ("Home", 0), ("End", 36), ("ArrowDown", 36)],
    ]:
        seen.page.keyboard.press(key)
        expect(seen.root).to_have_attribute("data-token", str(token))


def test_the_class_token_and_the_registers_can_be_chosen(view):
    seen = view(random_source(1, 2, GRID, registers=1), token=8)
    seen.page.get_by_role("button", name="register 0").click()
    expect(seen.root).to_have_attribute("data-token", "1")
    expect(seen.words).to_contain_text("Register 0: most to")
    expect(seen.page.get_by_text("has no pixels: it is learned")).to_be_visible()


def test_pointing_at_a_small_picture_reads_that_head(view):
    source = random_source(1, 3, GRID)
    seen = view(source, token=5)
    seen.serve(lambda: "≈" not in (seen.words.text_content() or "≈"))
    box = seen.tiles.bounding_box()
    assert box
    seen.page.mouse.move(box["x"] + 30, box["y"] + 60)
    expect(seen.weight).to_contain_text("Head 0: patch 4 (row 0, column 4) → patch")
    words = seen.weight.text_content() or ""
    key = int(re.findall(r"→ patch (\d+)", words)[0])
    assert words.endswith(f": {source.weights[0, 0, 5, 1 + key]:.5f}")


def test_a_patch_has_the_colour_of_its_weight(view):
    """On the scale from 0 to 1 a weight of 1 is the ramp's last colour, as opaque as it gets."""
    weights = np.zeros((1, 1, 5, 5), np.float32)
    weights[..., 4] = 1
    seen = view(Source(weights, (2, 2), patch=32), scale="fixed", token=1)
    shot = Image.open(io.BytesIO(seen.photo.screenshot())).convert("RGB")
    inside = shot.getpixel((int(shot.width * 0.7), int(shot.height * 0.7)))
    last = theme.sequential("dark")[255].astype(int)
    # a veil of 235/255 over a grey from 24 to 203
    assert np.abs(np.array(inside) - last).max() <= 20 / 255 * 255


def test_the_unrolled_patch_is_the_picture_s(view):
    source = random_source(1, 2, (2, 3), patch=16)
    seen = view(source, token=5)
    pixel = seen.page.locator(".hs-patch").evaluate(
        "c => [...c.getContext('2d').getImageData(1, 1, 1, 1).data]"
    )
    assert pixel[:3] == np.asarray(source.picture)[16, 16].tolist()
    expect(
        seen.page.get_by_text("6 patches is unrolled into one row of 768 numbers")
    ).to_be_visible()


def test_untrained_is_said_and_nothing_is_kept_after_another_trace(view):
    seen = view(random_source(1, 2, GRID), token=8)
    expect(seen.page.get_by_text("untrained: random weights").first).to_be_visible()
    other = random_source(2, 3, (3, 4), trace="i2", seed=5)
    blob = base64.b64encode(other.first()).decode()
    seen.page.evaluate("headscope.update", blob)
    expect(seen.root).to_have_attribute("data-trace", "i2")
    expect(seen.page.get_by_text("12 patches is unrolled")).to_be_visible()
