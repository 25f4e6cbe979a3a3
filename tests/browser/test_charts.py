"""Plotly charts: what stays when they change, and what their buttons do."""

import pypdfium2
import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser import driver

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("console")]
SIZE = "chart => [chart.clientWidth, chart.clientHeight]"


@pytest.fixture
def table(page: Page, app_url: str) -> Locator:
    """The first chart of the Positions page: 64 positions of 64 dimensions."""
    page.goto(f"{app_url}/positions")
    driver.rest(page)
    chart = page.locator(".js-plotly-plot").first
    expect(chart.locator(".heatmaplayer image")).to_be_visible()
    return chart


def button(chart: Locator, title: str) -> Locator:
    """A button of a chart, which shows them to a pointer."""
    chart.hover()
    return chart.locator(f".modebar-btn[data-title^='{title}']")


def test_a_chart_saves_itself_fills_the_screen_returns_and_fits_on_paper(page, table):
    """It is drawn for the screen, which is wider; and nothing offers to send it away."""
    for kind, start in (("PNG", b"\x89PNG"), ("SVG", b"<svg")):
        with page.expect_download() as saved:
            button(table, f"Save as {kind}").click()
        assert saved.value.path().read_bytes().startswith(start)
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save the numbers").click()
    assert saved.value.path().read_bytes().startswith(b"chart,series,axis_1")
    assert table.locator("[data-title*='hare']").count() == 0
    before = table.evaluate(SIZE)
    button(table, "Full screen").click()
    page.wait_for_function(
        "chart => chart.clientHeight === innerHeight && chart.clientWidth === innerWidth",
        arg=table.element_handle(),
    )
    button(table, "Full screen").click()
    page.wait_for_function(
        f"([chart, size]) => `${{({SIZE})(chart)}}` === `${{size}}`",
        arg=[table.element_handle(), before],
    )
    document = pypdfium2.PdfDocument(page.pdf(format="A4"))
    assert len(document) == 1
    words = document[0].get_textpage()
    for text in ("64 positions × 64 dimensions", "wave of dimension 4", "Position 20 with all"):
        assert words.search(text, match_case=True).get_next(), text
