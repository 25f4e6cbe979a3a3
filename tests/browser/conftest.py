"""A Chromium to drive, the real app to drive it at, and a console that must stay silent."""

import asyncio
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, expect

from benchmarks import servers
from tests.browser.chromium import (
    HOW_TO_GET_ONE,
    installed_browser,
    launch_arguments,
    playwright_browser,
)
from tests.browser.explorer_pages import Explorer, open_text
from tests.browser.views import Host, Server, hosting
from tests.browser.wire import Client

LONG = ("test_course", "test_scenarios")

# a busy machine is slow, not wrong
expect.set_options(timeout=30_000)
# a camera and a microphone that show and play a test pattern, which nobody has to allow
DEVICES = ("--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Long ones first: what is left at the end is short, and shared by all processes."""
    items.sort(key=lambda item: item.path.stem not in LONG)


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any]) -> dict[str, Any]:
    """Launch the Chromium that is here; without one every browser test fails with what to do.

    Pages of one origin share a process: a page loads in half the work where another is open.
    """
    path = installed_browser() or playwright_browser()
    if path is None:
        pytest.fail(HOW_TO_GET_ONE, pytrace=False)
    arguments = [*launch_arguments(), "--process-per-site", *DEVICES]
    return {**browser_type_launch_args, "executable_path": path, "args": arguments}


@pytest.fixture(scope="session")
def context(
    browser: Browser, browser_context_args: dict[str, Any]
) -> Generator[BrowserContext, None, None]:
    """One for all tests: what the app is made of is fetched once."""
    context = browser.new_context(**browser_context_args)
    yield context
    context.close()


@pytest.fixture(scope="session")
def open_context(browser: Browser, app_url: str) -> Generator[BrowserContext, None, None]:
    """One in which axe may run: the app's policy lets no foreign script in."""
    context = browser.new_context(bypass_csp=True)
    keep_warm(context, f"{app_url}/_stcore/health")
    yield context
    context.close()


@pytest.fixture(scope="session")
def app_url(
    context: BrowserContext, tmp_path_factory: pytest.TempPathFactory
) -> Generator[str, None, None]:
    """The address of the real app, started once for each worker and stopped at the end.

    It finds no fetched models, as on a machine that the app was never started on.
    """
    data, cache = (str(tmp_path_factory.mktemp(name)) for name in ("data", "cache"))
    app = servers.served(XDG_DATA_HOME=data, XDG_CACHE_HOME=cache)
    try:
        with app as server, ThreadPoolExecutor(1) as beside:
            beside.submit(asyncio.run, first_visit(server.url)).result()
            keep_warm(context, f"{server.url}/_stcore/health")
            yield server.url
    except RuntimeError as error:
        pytest.fail(str(error), pytrace=False)


@pytest.fixture(scope="session")
def host(context: BrowserContext) -> Generator[Host, None, None]:
    """What serves the views without the app, for all tests."""
    with hosting() as host:
        keep_warm(context, f"{host.url}/nothing")
        yield host


async def first_visit(url: str) -> None:
    """Opens the first page, which waits for torch and a model; those of the tests do not."""
    async with Client(url).connected():
        pass


def keep_warm(context: BrowserContext, url: str) -> None:
    """Opens a page that stays, so that the process of all pages from there does."""
    context.new_page().goto(url)


@pytest.fixture
def server(host: Host) -> Generator[Server, None, None]:
    """A page with a view, and what it asks."""
    server = host.server()
    yield server
    server.release()


@pytest.fixture
def explore(page: Page, server: Server) -> Callable[..., Explorer]:
    """Opens the text view and waits for its picture; keywords are what its link says."""

    def opened(*given: Any, **start: Any) -> Explorer:
        explorer = open_text(page, server, *given, **start)
        explorer.is_painted()
        return explorer

    return opened


@pytest.fixture
def page(context: BrowserContext, request: pytest.FixtureRequest) -> Generator[Page, None, None]:
    """A new page that knows nothing of those before it."""
    for name in {"app_url", "host"} & set(request.fixturenames):
        request.getfixturevalue(name)
    with new_page(context) as page:
        yield page


@contextmanager
def new_page(context: BrowserContext) -> Generator[Page, None, None]:
    """One that is closed at the end, with all that it opened and kept."""
    neighbours = list(context.pages)
    page = context.new_page()
    yield page
    for opened in context.pages:
        if opened not in neighbours:
            opened.close()
    context.set_offline(False)
    context.clear_cookies()
    for neighbour in neighbours:
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
