"""The Architecture page in a real browser, as a person uses it."""

import re

import pytest
from playwright.sync_api import Page, expect

from models.presets import PRESETS
from tests.browser.looks import first_look, looks
from viz.pages.architecture.fields import KINDS

pytestmark = pytest.mark.browser
DIAGRAM = ".st-key-architecture_diagram [data-painted]"
EXPLORER = ".st-key-architecture_view [data-painted]"
INSIDE = """diagram => {
  const { left, right } = diagram.getBoundingClientRect();
  const inside = (text) => {
    const at = text.getBoundingClientRect();
    return left <= at.left && at.right <= right;
  };
  const titles = [...diagram.querySelectorAll(".part b")];
  return titles.length && titles.every(inside);
}"""
ASKED = "so it runs on request only"


@pytest.fixture(autouse=True)
def silent(console: list[str]):
    """The console, but for what Streamlit asks below a page first, and then at the root."""
    yield
    console[:] = [problem for problem in console if "/architecture/_stcore/" not in problem]


def open_page(page: Page, url: str, query: str = "", what: str = DIAGRAM) -> None:
    page.goto(f"{url}/architecture?{query}")
    expect(page.locator(what)).to_have_count(1, timeout=60_000)


def part(page: Page, path: str):
    return page.locator(f"{DIAGRAM} [data-id='{path}']")


@pytest.mark.parametrize("name", ["small", "small-seq2seq", "small-vit"])
def test_it_fits_the_window(page, app_url, name):
    first_look(page)
    open_page(page, app_url, f"preset={name}")
    for mode in looks(page):
        expect(page.locator(DIAGRAM)).to_have_attribute("data-mode", mode)
        page.wait_for_function(INSIDE, arg=page.locator(DIAGRAM).element_handle())


def test_every_arrow_says_its_live_shape_and_a_click_on_a_part_its_numbers(page, app_url):
    open_page(page, app_url)
    shapes = page.locator(f"{DIAGRAM} .shape")
    expect(shapes.nth(1)).to_have_text("16 tokens × 64 dim")
    slider = page.get_by_role("slider", name="Tokens")
    slider.focus()
    slider.press("ArrowRight")
    expect(shapes.nth(1)).to_have_text("17 tokens × 64 dim")
    expect(page.locator(f"{DIAGRAM} .shape.new").first).to_be_attached()
    page.wait_for_url(re.compile("tokens=17"))
    part(page, "blocks/feed_forward/up").locator(".hs-part-title").click()
    expect(page.locator(f"{DIAGRAM}[data-select='blocks/feed_forward/up']")).to_have_count(1)
    expect(page.get_by_text("What runs: models/blocks.py")).to_be_visible()
    expect(page.get_by_text("self.down(self.dropout(")).to_be_visible()
    page.wait_for_url(re.compile(r"part=blocks(%2F|/)feed_forward(%2F|/)up"))
    for key, count in (("ArrowLeft", 0), ("ArrowRight", 1)):  # closes it, and opens it again
        part(page, "blocks").press(key)
        expect(part(page, "blocks/feed_forward")).to_have_count(count)


# one of every kind, and one that takes long here: every one of them without a browser elsewhere
CHOSEN = (
    *("small", "small-decoder", "small-seq2seq", "vit-raw-head", "pixels", "smallest", "layer"),
    "trained-dates",
)


def test_a_preset_of_every_kind_is_drawn_and_run(page, app_url):
    """Those that take long here say so, and what they need, before they are built."""
    assert {PRESETS[name].kind for name in CHOSEN} == set(KINDS)
    for name in CHOSEN:
        page.goto(f"{app_url}/architecture?preset={name}&run=yes")
        asked = name == "vit-raw-head"
        shown = page.get_by_text(ASKED) if asked else page.locator(EXPLORER)
        expect(shown.first).to_be_attached(timeout=60_000)
        page.get_by_role("radio", name="Parts").click()
        expect(page.locator(DIAGRAM)).to_have_count(1)
        expect(shown).to_have_count(0)
