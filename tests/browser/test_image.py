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
from tests.browser.views import LOOKS, SIZES, Server, open_lab
from viz import theme

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("console")]

GRID = (5, 7)


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
        self.reading = page.locator(".hs-reading")

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

    def group(self, name: str, share: float) -> None:
        """Waits until a group of tokens has this share."""
        row = self.reading.locator(".hs-bar-row").filter(has_text=name)
        expect(row).to_contain_text(
            re.compile(rf"{100 * share:.{0 if share >= 0.0195 else 1}f} %$")
        )


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


@pytest.mark.parametrize(("size", "mode"), LOOKS)
def test_pointing_at_a_patch_reads_the_array(view, size: str, mode: str):
    source = random_source(2, 3, GRID, registers=2)
    seen = view(source, size, mode, layer=1, head=2)
    seen.photo.scroll_into_view_if_needed()
    seen.point(11)
    seen.reads(11 + 3)
    weights = source.array[1, 2, 11 + 3]
    rows, cols = np.divmod(np.arange(GRID[0] * GRID[1]), GRID[1])
    near = (abs(rows - 1) <= 2) & (abs(cols - 4) <= 2)
    near[11] = False
    seen.group("[CLS]", weights[0])
    seen.group("registers", weights[1:3].sum())
    seen.group("itself", weights[14])
    seen.group("within 2 patches", weights[3:][near].sum())
    assert seen.root.get_attribute("data-mode") == mode
    assert seen.page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("size", SIZES)
def test_pointing_moves_nothing_on_the_page(view, size):
    seen = view(random_source(1, 3, GRID, registers=1), size)
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
    open_lab(seen.page, "Numbers")
    seen.page.get_by_role("combobox", name="Colours").select_option("shared by heads")
    expect(dark).to_have_text(re.compile("^Nearly uniform, .* each patch has 0.038 to 0.038.*"))
