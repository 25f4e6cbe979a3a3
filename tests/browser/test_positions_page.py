"""The Positions page in a real browser: every view drawn, in every look."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.looks import TRIED, first_look, fits
from viz.pages.positions.controls import SCHEMES, VIEWS, VIEWS_OF

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("console")]
CHART = ".js-plotly-plot .main-svg"
SMALL = "length=32&width=32&rows=6&cols=5&newrows=9&newcols=8"


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


def test_every_view_is_drawn(page, app_url):
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
            fits(page, *order[0])
        for each in order:
            fits(page, *each)
        order = order[::-1]  # a scheme begins in the look in which the one before ended


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
