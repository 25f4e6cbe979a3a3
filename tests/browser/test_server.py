"""The real server in a real browser: it comes up, keeps its policy, and the console is silent."""

import pytest
from playwright.sync_api import Browser

pytestmark = pytest.mark.browser


def test_the_start_page_keeps_its_policy_and_asks_no_other_server(
    browser: Browser, app_url: str
) -> None:
    page = browser.new_page()  # that has fetched nothing before
    asked: list[str] = []
    problems: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("websocket", lambda socket: asked.append(socket.url))
    page.on("console", lambda said: problems.append(said.text) if said.type == "error" else None)
    page.on("pageerror", lambda error: problems.append(str(error)))
    answer = page.goto(app_url)
    assert answer is not None
    assert "script-src 'self' 'sha256-" in answer.headers["content-security-policy"]
    page.locator(".headscope[data-painted]").wait_for(timeout=60_000)
    page.wait_for_load_state("networkidle")
    page.close()
    own = (app_url, app_url.replace("http:", "ws:"), "data:", "blob:")
    assert [url for url in asked if not url.startswith(own)] == []
    assert problems == []
