"""Plotly charts: what stays when they change, and what their buttons do."""

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser import driver

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("console")]
SIZE = "chart => [chart.clientWidth, chart.clientHeight]"


@pytest.fixture
def waves(page: Page, app_url: str) -> Locator:
    """The waves of positions on page Build."""
    page.goto(f"{app_url}/build")
    driver.rest(page)
    page.get_by_text("The waves of its positions").click()
    chart = page.locator(".js-plotly-plot").first
    expect(chart.locator(".scatterlayer .trace").first).to_be_visible()
    return chart


def button(chart: Locator, title: str) -> Locator:
    """A button of a chart, which shows them to a pointer."""
    chart.hover()
    return chart.locator(f".modebar-btn[data-title^='{title}']")


def test_a_chart_saves_itself_fills_the_screen_and_returns(page, waves):
    """Nothing offers to send it away."""
    for kind, start in (("PNG", b"\x89PNG"), ("SVG", b"<svg")):
        with page.expect_download() as saved:
            button(waves, f"Save as {kind}").click()
        assert saved.value.path().read_bytes().startswith(start)
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save the numbers").click()
    assert saved.value.path().read_bytes().startswith(b"chart,series,axis")
    assert waves.locator("[data-title*='hare']").count() == 0
    before = waves.evaluate(SIZE)
    button(waves, "Full screen").click()
    page.wait_for_function(
        "chart => chart.clientHeight === innerHeight && chart.clientWidth === innerWidth",
        arg=waves.element_handle(),
    )
    button(waves, "Full screen").click()
    page.wait_for_function(
        f"([chart, size]) => `${{({SIZE})(chart)}}` === `${{size}}`",
        arg=[waves.element_handle(), before],
    )
