"""The image view in a browser, without Streamlit: what is seen, read out and fetched."""

import io
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Page, expect

from tests.browser import views
from tests.browser.image_pages import Source, random_source
from tests.browser.views import LOOKS, SIZES, Server
from viz import theme

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("console")]

GRID = (5, 7)
DIM = ".hs-stage.hs-dim"
ROUGH = re.compile("≈")


class View(views.View):
    """The image view on a page."""

    source: Source

    def __init__(
        self, page: Page, server: Server, source: Source, props: dict[str, Any] | None = None
    ) -> None:
        given = {"kind": "image", **(props or {})}
        super().__init__(page, server, source, given, "/image")
        self.photo, self.tiles = page.locator(".hs-photo"), page.locator(".hs-tiles")
        self.small = page.locator(".hs-small")
        self.words = page.locator(".hs-image-grid section").nth(0).locator(".hs-read")
        self.weight = page.locator(".hs-image-grid section").nth(1).locator(".hs-read")

    def point(self, patch: int) -> None:
        """Moves the mouse over a patch of the large picture, once that has come to rest."""
        box = self.photo.bounding_box()
        assert box
        row, col = divmod(patch, self.source.grid[1])
        x = (col + 0.5) * box["width"] / self.source.grid[1]
        y = (row + 0.5) * box["height"] / self.source.grid[0]
        self.photo.hover(position={"x": x, "y": y})

    def reads(self, token: int) -> None:
        """Waits until this token is in question."""
        expect(self.root).to_have_attribute("data-token", str(token))

    def is_exact(self) -> None:
        expect(self.words).to_contain_text(": most ")
        expect(self.words).not_to_contain_text(ROUGH)


@pytest.fixture
def view(page: Page, server: Server) -> Callable[..., View]:
    """Opens the view on a source; keywords say what is chosen first."""

    def opened(source: Source, size: str = "wide", mode: Any = "light", **start: Any) -> View:
        page.set_viewport_size(SIZES[size])
        page.emulate_media(color_scheme=mode)
        seen = View(page, server, source, {"start": start})
        seen.is_painted()
        return seen

    return opened


def largest(weights: np.ndarray, prefix: int) -> int:
    return int(weights[prefix:].argmax())


def test_without_sinks_rows_leave_them_out_and_say_what_they_take(view):
    source = random_source(2, 3, GRID, registers=2)
    seen = view(source, layer=1, head=2, token=14)
    row = source.weights[1, 2, 14]
    menu = seen.page.get_by_role("combobox", name="Sinks")
    sentence = seen.page.locator(".hs-image-grid section").nth(0).locator(".hs-sentence")
    last = len(row) - 1
    for mode, more in (("Sinks hidden", False), ("Sinks hidden, rows sum to 1", True)):
        menu.select_option(mode)
        outliers = seen.page.get_by_role("button", name="Outlier patches")
        if more:
            outliers.press("Enter")
            expect(outliers).to_have_attribute("aria-pressed", "true")
        keys = [0, 1, 2, *([last] if more else [])]
        named = "the class token, 2 registers and 1 outlier patch" if more else "2 registers"
        expect(sentence).to_contain_text(named)
        expect(sentence).to_contain_text(f"take {100 * row[keys].sum():.2f} % of this row")
        kept = row.copy()
        kept[keys] = 0
        kept = kept / kept.sum() if more else kept
        most = largest(kept, 3)
        expect(seen.words).to_contain_text(f"most to patch {most} ")
        expect(seen.words).to_contain_text(f", {kept[3 + most]:.5f}")
    chip = seen.page.get_by_role("button", name="class ")
    expect(chip).to_contain_text(f"{100 * row[0]:.1f} %")  # what went there is still told
    menu.select_option("Sinks shown")
    expect(sentence).not_to_contain_text("Without")


@pytest.mark.parametrize(("size", "mode"), LOOKS)
def test_pointing_at_a_patch_reads_the_array(view, size: str, mode: str):
    source = random_source(2, 3, GRID, registers=2)
    seen = view(source, size, mode, layer=1, head=2)
    seen.photo.scroll_into_view_if_needed()
    seen.point(11)
    seen.reads(11 + 3)
    weights = source.weights[1, 2, 11 + 3]
    most = largest(weights, 3)
    expect(seen.words).to_contain_text(f"Patch 11 (row 1, column 4): most to patch {most} ")
    expect(seen.words).to_contain_text(f", {weights[3 + most]:.5f}")
    parts = seen.page.locator(".hs-parts")
    expect(parts).to_contain_text(f"class {100 * weights[0]:.1f} %")
    expect(parts).to_contain_text(f"registers {100 * weights[1:3].sum():.1f} %")
    assert seen.root.get_attribute("data-mode") == mode
    assert seen.page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_who_looks_at_a_patch(view):
    source = random_source(1, 2, GRID)
    seen = view(source, direction="in", token=9, head=1)
    column = source.weights[0, 1, :, 9]
    most = largest(column, 1)
    expect(seen.words).to_contain_text(f"most from patch {most} ")
    expect(seen.words).to_contain_text(f", {column[1 + most]:.5f}")
    expect(seen.page.locator(".hs-parts")).to_contain_text(f"in all {column.sum():.3f}")


def test_a_layer_that_is_not_here_is_fetched_once_and_the_old_picture_stays_until_it_comes(
    view, server
):
    seen = view(random_source(3, 2, GRID))
    server.hold("layer")
    seen.page.get_by_role("combobox", name="Layer").select_option("2")
    expect(seen.root).to_have_attribute("data-site", "2")
    expect(seen.page.locator(DIM)).to_have_count(2)
    server.until(lambda: "layer?site=2" in server.paths())
    server.release()
    expect(seen.page.locator(DIM)).to_have_count(0)
    assert server.paths().count("layer?site=2") == 1


def test_no_more_than_4_mib_of_layers_come_ahead(view, server):
    seen = view(random_source(14, 12, (13, 13)))
    most = 2**22 // (12 * 170 * 170)  # a byte a weight
    assert most < 13
    server.until(lambda: len(server.paths("layer")) == 1 + most)
    seen.point(3)  # what is asked for after the last of them
    server.until(lambda: "heads?site=0&axis=query&index=4" in server.paths())
    seen.is_exact()
    assert len(server.paths("layer")) == 1 + most


@pytest.mark.parametrize("size", SIZES)
def test_pointing_moves_nothing_on_the_page(view, size):
    seen = view(random_source(1, 3, GRID, registers=1), size)
    seen.is_exact()
    seen.photo.scroll_into_view_if_needed()
    places = set()
    for patch in (0, 34, 11, 20):
        seen.point(patch)
        seen.reads(patch + 2)
        boxes = [part.bounding_box() for part in (seen.photo, seen.tiles)]
        places.add(tuple(box["y"] for box in boxes if box))
    assert len(places) == 1


def test_the_class_token_and_the_registers_can_be_chosen(view):
    seen = view(random_source(1, 2, GRID, registers=1), token=8)
    seen.page.get_by_role("button", name="register 0").click()
    seen.reads(1)
    expect(seen.words).to_contain_text("Register 0: most to")


def test_pointing_at_a_small_picture_reads_that_head(view):
    source = random_source(1, 3, GRID)
    seen = view(source, token=5)
    seen.is_exact()
    box = seen.small.first.bounding_box()
    assert box
    seen.page.mouse.move(box["x"] + 0.5 * box["width"] / 7, box["y"] + 1.5 * box["height"] / 5)
    weight = source.weights[0, 0, 5, 1 + 7]
    read = f"Head 0: patch 4 (row 0, column 4) → patch 7 (row 1, column 0): {weight:.5f}"
    expect(seen.weight).to_have_text(read)


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


def test_all_dark_is_said_and_nearly_uniform_too(view):
    uniform = np.full((1, 1, 26, 26), 1 / 26, np.float32)
    seen = view(Source(uniform, (5, 5)), scale="fixed", token=1)
    dark = seen.page.locator(".hs-dark")
    expect(dark).to_contain_text("All dark on the scale 0 to 1: the largest weight is 0.038.")
    seen.page.get_by_role("combobox", name="Scale").select_option("shared by heads")
    expect(dark).to_have_text(re.compile("^Nearly uniform, .* each patch has 0.038 to 0.038.*"))


def test_a_second_picture_cannot_be_touched_until_it_is_drawn(view, server):
    seen = view(random_source(3, 2, GRID))
    server.sources["i2"] = random_source(3, 2, GRID, trace="i2", seed=5)
    server.hold("overview")
    second = {"trace": "i2", "made": 0, "heads": [2, 2, 2], "title": "Another picture"}
    seen.update(second=second)
    sections = seen.page.locator(".hs-image-grid section")
    expect(sections).to_have_count(4)
    inert = seen.page.locator(".hs-image-grid section[inert]")
    expect(inert).to_have_count(2)
    for of_second in (1, 3):
        expect(sections.nth(of_second)).to_have_attribute("inert", "")
    server.release()
    expect(inert).to_have_count(0)
    sections.nth(1).locator(".hs-photo").click()
