"""The real server in a real browser: it comes up, keeps its policy, and the console is silent."""

import pytest
from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser


def test_start_page_keeps_its_own_policy(page: Page, app_url: str, console: list[str]) -> None:
    answer = page.goto(app_url)
    assert answer is not None
    assert "script-src 'self' 'sha256-" in answer.headers["content-security-policy"]
    page.get_by_test_id("stAppViewContainer").wait_for()
    page.wait_for_load_state("networkidle")
    assert console == []


def test_nothing_is_asked_of_other_servers(browser: Browser, app_url: str) -> None:
    asked: list[str] = []
    page = browser.new_page()  # that has fetched nothing before
    page.on("request", lambda request: asked.append(request.url))
    page.goto(app_url)
    page.get_by_test_id("stAppViewContainer").wait_for()
    page.wait_for_load_state("networkidle")
    page.close()
    elsewhere = [url for url in asked if not url.startswith((app_url, "data:", "blob:"))]
    assert elsewhere == []
