"""The Positions page in a real browser: every scheme drawn, in every look."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.looks import TRIED, first_look, fits
from viz.pages.positions.page import SCHEMES

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("console")]
CHART = ".js-plotly-plot .main-svg"
SMALL = "length=32&width=32&rows=6&cols=5"


def settled(page: Page) -> None:
    """Asks in every frame: `expect` would wait up to a second between two looks."""
    page.wait_for_function(
        """chart => document.querySelector("[data-test-script-state=notRunning]")
            && document.querySelector(chart)?.checkVisibility()""",
        arg=CHART,
    )
    assert page.locator(".stException, .stAlert").count() == 0


def test_every_scheme_is_drawn(page: Page, app_url: str) -> None:
    first_look(page)
    page.goto(f"{app_url}/positions?{SMALL}")
    expect(page.locator(CHART).first).to_be_visible(timeout=60_000)
    order = TRIED
    for scheme, title in SCHEMES.items():
        page.get_by_role("radio", name=title, exact=True).click()
        if scheme != "sinusoidal":
            page.wait_for_url(re.compile(f"scheme={scheme}"))
        settled(page)
        for each in order:
            fits(page, *each)
        order = order[::-1]  # a scheme begins in the look in which the one before ended
