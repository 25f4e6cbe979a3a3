"""The Positions page in a real browser: every view drawn, a control of every kind moved."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.looks import TRIED, first_look, fits
from viz.pages.positions.controls import SCHEMES, VIEWS, VIEWS_OF

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("console")]
CHART = ".js-plotly-plot .main-svg"
SMALL = "length=32&width=32&rows=6&cols=5&newrows=9&newcols=8"
# what the link says after one step to the right of a slider, or after a choice; all of them move
# without a browser in tests/viz/pages/positions
SLIDERS = {
    ("sinusoidal", "table"): "length=40",
    ("grid", "regrid"): "rows=7",
    ("rotary", "pairs"): "key=13",
    ("compare", "alone"): "heads=9",
}
CHOICES = {
    ("learned", "table"): ("Random (untrained)", "source=random"),
    ("grid", "tiles"): ("Stretch contrast", "scale=own"),
    ("alibi", "bias"): ("Causal", "keys=causal"),
}


def open_page(page: Page, url: str) -> None:
    page.goto(url)
    expect(page.locator(CHART).first).to_be_visible(timeout=60_000)


def settled(page: Page) -> None:
    """Asks in every frame: `expect` would wait up to a second between two looks."""
    page.wait_for_function(
        """chart => document.querySelector("[data-test-script-state=notRunning]")
            && document.querySelector(chart)?.checkVisibility()""",
        arg=CHART,
    )
    assert page.locator(".stException, .stAlert").count() == 0


def test_every_view_is_drawn_and_its_controls_move(page, app_url):
    first_look(page)
    open_page(page, f"{app_url}/positions?{SMALL}")
    order = TRIED
    for scheme, views in VIEWS_OF.items():
        page.get_by_role("radio", name=SCHEMES[scheme], exact=True).click()
        arrived(page, scheme, None)
        for view in views:
            if len(views) > 1:
                page.get_by_role("radio", name=VIEWS[view], exact=True).click()
                arrived(page, scheme, view)
            move_controls(page, scheme, view)
            fits(page, *order[0])
        for each in order:
            fits(page, *each)
        order = order[::-1]  # a scheme begins in the look in which the one before ended


def move_controls(page: Page, scheme: str, view: str) -> None:
    """Where they are first in view; the link remembers."""
    if told := SLIDERS.get((scheme, view)):
        name = told.partition("=")[0]
        control(page, name).get_by_role("slider").press("ArrowRight")
        page.wait_for_url(re.compile(rf"\b{told}\b"))
    if (scheme, view) in CHOICES:
        name, told = CHOICES[scheme, view]
        page.get_by_role("radio", name=name, exact=True).click()
        page.wait_for_url(re.compile(rf"\b{told}\b"))
    if (scheme, view) == ("relative", "bias"):
        control(page, "seed").get_by_test_id("stNumberInputStepUp").click()
        page.wait_for_url(re.compile(r"\bseed=1\b"))
    settled(page)


def control(page: Page, name: str) -> Locator:
    """The widget of a setting: its key ends on the name, after the revision and the mount."""
    return page.locator(f"xpath=//*[contains(concat(@class, ' '), '-{name} ')]").first


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
