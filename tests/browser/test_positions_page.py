"""The Positions page in a real browser: every view drawn, every control moved once."""

import re

import pytest
from playwright.sync_api import Page, expect

from viz.pages.position_controls import SCHEMES, VIEWS, VIEWS_OF
from viz.theme import COLOURS, MODES, rgb

pytestmark = pytest.mark.browser
CHART = ".stPlotlyChart .main-svg"
# Streamlit looks for its server below a page's own address first, and finds it one step up
LOOKING = re.compile(r"/positions/_stcore/(health|host-config)\)")
# what the link says after one step to the right of each slider
SLIDERS = {
    "scheme=sinusoidal": ("length=72", "width=68", "base=100000", "position=21", "dim=5"),
    "scheme=grid&view=regrid": ("rows=15", "cols=15", "newrows=25", "newcols=25"),
    "scheme=rotary&view=pairs": ("key=13",),
    "scheme=compare": ("heads=9", "head=1"),
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
    for scheme, views in VIEWS_OF.items():
        page.get_by_role("radio", name=SCHEMES[scheme], exact=True).click()
        arrived(page, scheme, None)
        for view in views if len(views) > 1 else ():
            page.get_by_role("radio", name=VIEWS[view], exact=True).click()
            arrived(page, scheme, view)
            assert page.evaluate("document.documentElement.scrollWidth") <= width


def arrived(page: Page, scheme: str, view: str | None) -> None:
    """The address says what was clicked, and the figures are there."""
    page.wait_for_function(
        """([scheme, view]) => {
            const said = new URLSearchParams(location.search);
            return (said.get("scheme") ?? "sinusoidal") === scheme
                && (view === null || (said.get("view") ?? "table") === view);
        }""",
        arg=[scheme, view],
    )
    settled(page)


@pytest.mark.parametrize(("mode", "width"), [("light", 1280), ("dark", 390)])
def test_every_control_moves_and_the_link_remembers(page, app_url, console, mode, width):
    page.emulate_media(color_scheme=mode)
    page.set_viewport_size({"width": width, "height": 900})
    for query, moves in SLIDERS.items():
        open_page(page, f"{app_url}/positions?{query}", console)
        for told in moves:
            name = told.partition("=")[0]
            page.locator(f".st-key-positions_{name}").get_by_role("slider").press("ArrowRight")
            page.wait_for_url(re.compile(rf"\b{told}\b"))
            settled(page)
    for query, (name, told) in CHOICES.items():
        open_page(page, f"{app_url}/positions?{query}", console)
        page.get_by_role("radio", name=name, exact=True).click()
        page.wait_for_url(re.compile(rf"\b{told}\b"))
        settled(page)
    open_page(page, f"{app_url}/positions?scheme=relative", console)
    page.locator(".st-key-positions_seed").get_by_test_id("stNumberInputStepUp").click()
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


def test_dials_stay_legible_in_a_narrow_window(page, app_url, console):
    page.set_viewport_size({"width": 390, "height": 900})
    open_page(page, f"{app_url}/positions?scheme=rotary&view=pairs", console)
    expect(page.locator(CHART).first).to_have_attribute("width", "800")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
