"""The first minute: a picture before PyTorch is there, cards to begin with, and the way back."""

import io
import sys

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Browser, Page, expect

from benchmarks import servers
from viz.pages.explore import opening, welcome

pytestmark = pytest.mark.browser
WITHOUT_TORCH = """
import sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name in ("torch", "transformers"):
            raise ImportError(name + " is blocked")

sys.meta_path.insert(0, Blocked())
import uvicorn
import app
uvicorn.run(app.app, port=int(sys.argv[1]), log_level="error")
"""
VIEW = ".headscope[data-painted]"


def pixels(page: Page) -> np.ndarray:
    """What is seen of the page, "row col 3"."""
    picture = Image.open(io.BytesIO(page.screenshot(animations="disabled"))).convert("RGB")
    return np.asarray(picture, int)


def test_the_first_picture_comes_without_torch(browser: Browser) -> None:
    port = servers.free_port()
    command = [sys.executable, "-c", WITHOUT_TORCH, str(port)]
    with servers.running(command, servers.ROOT, port) as server:
        for query in ("", "?model=built"):
            page = browser.new_page(viewport={"width": 1280, "height": 800})
            page.goto(f"{server.url}/{query}")
            view = page.locator(VIEW)
            view.wait_for(timeout=60_000)
            expect(view.get_by_text("layer 3 · head 1").first).to_be_visible()
            expect(view.get_by_label("Tokens", exact=False).first).to_be_attached()
            assert view.locator("canvas").count() > 1
            expect(page.get_by_text(opening.LOADING)).to_be_visible()
            page.close()


def test_the_first_picture_is_in_sight_whole_and_then_its_toolbar_stays(
    page: Page, app_url: str
) -> None:
    page.set_viewport_size({"width": 1280, "height": 800})
    page.goto(app_url)
    page.locator(VIEW).wait_for(timeout=60_000)
    expect(page.get_by_text("details")).to_be_visible()  # the last of what is above it
    strip = page.get_by_role("navigation", name="Where to begin")
    expect(strip).to_be_visible()
    box = strip.bounding_box()
    assert box is not None
    assert box["height"] <= 72
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 1280
    assert strip.evaluate("e => e.firstChild.scrollWidth <= e.firstChild.clientWidth")
    rows = pixels(page)[:, 700:970]  # of the matrix, right of its labels
    ground = rows[-1, 0]
    drawn = (np.abs(rows - ground).max(-1) > 2).any(-1)
    assert drawn[700:760].all()
    assert not drawn[760:].all()  # the ground between the last row and the scale
    toolbar = page.locator(f"{VIEW} .hs-bar").first
    page.mouse.move(300, 500)
    page.mouse.wheel(0, 600)
    page.wait_for_function("() => document.querySelector('.stMain').scrollTop > 300")
    box = toolbar.bounding_box()
    assert box is not None
    assert abs(box["y"]) <= 1


def test_a_card_leads_there_by_keyboard_and_the_name_leads_back(
    page: Page, app_url: str, console: list[str]
) -> None:
    page.goto(app_url)
    page.locator(VIEW).wait_for(timeout=60_000)
    strip = page.get_by_role("navigation", name="Where to begin")
    links = strip.get_by_role("link")
    expect(links).to_have_count(len(welcome.CARDS))
    for picture in strip.locator("img").all():
        assert picture.evaluate("e => e.decode().then(() => e.naturalWidth)") == 96
    (card,) = (each for each in welcome.CARDS if each.title == "Build one")
    strip.get_by_role("link", name=card.title).focus()
    page.keyboard.press("Enter")
    page.wait_for_url(lambda url: url.endswith(f"/?{card.query}"))
    expect(strip).to_have_count(0)
    page.get_by_role("button", name="Headscope").click()
    expect(strip).to_be_visible()
    strip.get_by_role("link", name="Learn how").click()
    page.wait_for_url("**/course")
    page.get_by_role("button", name="Headscope").click()
    page.wait_for_url(lambda url: url.endswith(f"/?{card.query}"))
    expect(strip).to_be_visible()
