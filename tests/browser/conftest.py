"""A Chromium to drive, the real app to drive it at, and a console that must stay silent."""

import socket
import subprocess
import sys
from collections.abc import Generator
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, expect

import start
from tests.browser.chromium import (
    HOW_TO_GET_ONE,
    installed_browser,
    launch_arguments,
    playwright_browser,
)

# a busy machine is slow, not wrong
expect.set_options(timeout=20_000)


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any]) -> dict[str, Any]:
    """Launch the Chromium that is here; without one every browser test fails with what to do.

    Pages of the app share one process: a page loads in half the work where another is open.
    """
    path = installed_browser() or playwright_browser()
    if path is None:
        pytest.fail(HOW_TO_GET_ONE, pytrace=False)
    arguments = [*launch_arguments(), "--process-per-site"]
    return {**browser_type_launch_args, "executable_path": path, "args": arguments}


@pytest.fixture(scope="session")
def app_url(tmp_path_factory: pytest.TempPathFactory) -> Generator[str, None, None]:
    """The address of the real app, started once for all tests and stopped at the end."""
    log = tmp_path_factory.mktemp("app") / "server.log"
    port = _free_port()
    with log.open("wb") as output:
        server = subprocess.Popen(
            [sys.executable, "serve.py", "--port", str(port)],
            cwd=start.ROOT,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
        try:
            if not start.answers(server, port):
                said = log.read_text(encoding="utf-8", errors="replace")
                pytest.fail(f"the app did not start; it said:\n{said}", pytrace=False)
            yield f"http://127.0.0.1:{port}"
        finally:
            start.stop(server)


@pytest.fixture(scope="session")
def context(
    browser: Browser, browser_context_args: dict[str, Any]
) -> Generator[BrowserContext, None, None]:
    """One for all tests: what the app is made of is fetched once."""
    context = browser.new_context(**browser_context_args)
    yield context
    context.close()


@pytest.fixture(scope="session")
def neighbour(context: BrowserContext, app_url: str) -> Page:
    """A page that stays open, so that the process of the app's pages does, and is warm."""
    page = context.new_page()
    page.goto(f"{app_url}/_stcore/health")
    return page


@pytest.fixture
def page(context: BrowserContext, request: pytest.FixtureRequest) -> Generator[Page, None, None]:
    """A new page that knows nothing of those before it."""
    neighbour = "app_url" in request.fixturenames and request.getfixturevalue("neighbour")
    stay = list(context.pages)
    page = context.new_page()
    yield page
    for opened in context.pages:
        if opened not in stay:
            opened.close()
    context.set_offline(False)
    context.clear_cookies()
    if neighbour:
        neighbour.evaluate("localStorage.clear()")


@pytest.fixture
def console(page: Page) -> Generator[list[str], None, None]:
    """What the browser's console said is wrong; the test fails if it is not empty at the end."""
    problems: list[str] = []

    def heard(message: ConsoleMessage) -> None:
        if message.type == "error":
            problems.append(f"{message.text} ({message.location.get('url', '')})")

    page.on("console", heard)
    page.on("pageerror", lambda error: problems.append(str(error)))
    yield problems
    assert not problems, "the browser console reports:\n" + "\n".join(problems)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
