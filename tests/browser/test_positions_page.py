"""The Positions page in a real browser: every view drawn, every control moved once."""

import re

import pytest
from playwright.sync_api import Page, expect

from viz.theme import COLOURS, MODES, rgb

pytestmark = pytest.mark.browser
CHART = ".stPlotlyChart .main-svg"
# Streamlit looks for its server below a page's own address first, and finds it one step up
LOOKING = re.compile(r"/positions/_stcore/(health|host-config)\)")
TOUR = {
    "Sinusoidal": ("Table", "Similarity", "Tile grid", "By distance"),
    "Learned": ("Table", "Similarity", "Tile grid", "By distance"),
    "2-D sin-cos": ("Table", "Similarity", "Tile grid", "By distance", "Another grid"),
    "Rotary": ("Rotating pairs", "Table", "By distance"),
    "ALiBi": ("Bias per head", "By distance"),
    "T5 relative": ("Bias per head", "Buckets", "By distance"),
    "Side by side": (),
}
# which sliders move where: each one once
SLIDERS = {
    "scheme=sinusoidal": {
        "Length": "length=72",
        "Width": "width=68",
        "Base": "base=100000",
        "Position": "position=21",
        "Dimension": "dim=5",
    },
    "scheme=grid&view=regrid": {
        "Patch rows": "rows=15",
        "Patch columns": "cols=15",
        "New rows": "newrows=25",
        "New columns": "newcols=25",
    },
    "scheme=rotary&view=pairs": {"Position of the key": "key=13"},
    "scheme=compare": {"Heads": "heads=9", "Head": "head=1"},
}
CHOICES = {
    "scheme=learned": ("Random (untrained)", "source=random"),
    "scheme=alibi": ("Causal", "keys=causal"),
    "scheme=grid&view=tiles": ("Stretch contrast", "scale=own"),
}


def open_page(page: Page, url: str, console: list[str]) -> None:
    page.goto(url)
    expect(page.locator(CHART).first).to_be_visible(timeout=60_000)
    console[:] = [problem for problem in console if not LOOKING.search(problem)]


def settled(page: Page) -> None:
    expect(page.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning")
    expect(page.locator(CHART).first).to_be_visible()
    expect(page.locator(".stException, .stAlert")).to_have_count(0)


@pytest.mark.parametrize("mode", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_every_view_is_drawn_and_fits_the_window(page, app_url, console, mode, width):
    page.emulate_media(color_scheme=mode)
    page.set_viewport_size({"width": width, "height": 900})
    open_page(page, f"{app_url}/positions", console)
    for scheme, views in TOUR.items():
        page.get_by_role("radio", name=scheme, exact=True).click()
        settled(page)
        for view in views:
            page.get_by_role("radio", name=view, exact=True).click()
            settled(page)
            assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize(("mode", "width"), [("light", 1280), ("dark", 390)])
def test_every_control_moves_and_the_link_remembers(page, app_url, console, mode, width):
    page.emulate_media(color_scheme=mode)
    page.set_viewport_size({"width": width, "height": 900})
    for query, moves in SLIDERS.items():
        open_page(page, f"{app_url}/positions?{query}", console)
        for name, told in moves.items():
            page.get_by_role("slider", name=name, exact=True).press("ArrowRight")
            page.wait_for_url(re.compile(rf"\b{told}\b"))
            settled(page)
    for query, (name, told) in CHOICES.items():
        open_page(page, f"{app_url}/positions?{query}", console)
        page.get_by_role("radio", name=name, exact=True).click()
        page.wait_for_url(re.compile(rf"\b{told}\b"))
        settled(page)
    open_page(page, f"{app_url}/positions?scheme=relative", console)
    page.get_by_role("button", name="Increment value").click()
    page.wait_for_url(re.compile(r"\bseed=1\b"))
    settled(page)


def test_colours_are_those_of_the_mode(page, app_url, console):
    strokes = []
    for mode in ("light", "dark"):
        page.emulate_media(color_scheme=mode)
        open_page(page, f"{app_url}/positions?view=distance", console)
        line = page.locator(".stPlotlyChart .lines path.js-line").last
        strokes.append(line.evaluate("path => getComputedStyle(path).stroke"))
    assert strokes == [css(COLOURS[mode].heads[1]) for mode in MODES]


def css(colour: str) -> str:
    return f"rgb{rgb(colour)}"


def test_settings_are_kept_while_another_page_is_read(page, app_url, console):
    page.set_viewport_size({"width": 1280, "height": 900})
    open_page(page, f"{app_url}/positions?scheme=rotary&base=100", console)
    for name in ("Text", "Positions"):
        page.get_by_role("button", name="Explore").click()
        page.get_by_role("link", name=name).click()
        expect(page.get_by_role("heading", level=4).first).to_be_visible()
        page.wait_for_timeout(6000)  # longer than an address may come late
    expect(page.locator(CHART).first).to_be_visible()
    page.wait_for_url(re.compile(r"scheme=rotary.*base=100\b"))
