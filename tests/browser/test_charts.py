"""Plotly charts: what their buttons save."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser import driver

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("console")]


def test_a_chart_saves_itself_and_its_numbers(page: Page, app_url: str):
    """Nothing offers to send it away."""
    page.goto(f"{app_url}/build")
    driver.rest(page)
    page.get_by_text("The waves of its positions").click()
    waves = page.locator(".js-plotly-plot").first
    expect(waves.locator(".scatterlayer .trace").first).to_be_visible()
    waves.hover()
    with page.expect_download() as saved:
        waves.locator(".modebar-btn[data-title^='Download plot']").click()
    assert saved.value.path().read_bytes().startswith(b"<svg")
    assert waves.locator("[data-title*='hare']").count() == 0
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save the numbers").click()
    first, second, *_ = saved.value.path().read_text().splitlines()
    assert first.startswith("position,feature 0,feature 4")
    assert second == "0,0,0,0,0,0"
