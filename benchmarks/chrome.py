"""Chromium for benchmarks: fresh pages with a probe, events timed to the picture, and traffic."""

import contextlib
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import (
    Browser,
    Error,
    Page,
    Request,
    ViewportSize,
    WebSocket,
    sync_playwright,
)

from tests.browser.chromium import HOW_TO_GET_ONE, installed_browser, launch_arguments
from tests.browser.chromium import playwright_browser as own_browser

PROBE = Path(__file__).with_name("probe.js")
PAINTED = "probe.picture"
SIZE = ViewportSize(width=1280, height=900)
WAIT_SECONDS, LOST_SECONDS = 60, 20  # of a picture; of one that follows an event
QUIET_SECONDS = 1.0
AHEAD_MS = 900  # after this long without a request, nothing more is fetched ahead
PAUSE_MS, EVERY_MS = 350, 30  # after an event; between two questions
CODE = ("/assets/", "/_stcore/bidi-components/")
DATA = ("/api/", "/stored/")


@contextlib.contextmanager
def launched() -> Iterator[Browser]:
    """A running browser, closed at the end.

    Raises:
        RuntimeError: if there is none on this machine, or for what goes wrong in it.
    """
    path = installed_browser() or own_browser()
    if path is None:
        raise RuntimeError(HOW_TO_GET_ONE)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=launch_arguments())
        try:
            yield browser
        except Error as error:
            raise RuntimeError(error.message.splitlines()[0]) from error
        finally:
            browser.close()


@contextlib.contextmanager
def fresh_page(browser: Browser, **probe: bool) -> Iterator[Page]:
    """A page without cache, cookies or history, with the probe in it and its settings."""
    context = browser.new_context(viewport=SIZE, color_scheme="light")
    try:
        context.add_init_script(path=PROBE)
        for name, value in probe.items():
            context.add_init_script(f"probe.{name} = {str(value).lower()}")
        page = context.new_page()
        page.set_default_timeout(WAIT_SECONDS * 1000)
        yield page
    finally:
        context.close()


def wait_for(page: Page, expression: str, what: str, seconds: float = WAIT_SECONDS) -> Any:
    """The value of an expression once it is true; asks seldom, so as not to disturb the page.

    Raises:
        RuntimeError: naming what was waited for, if it does not come.
    """
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        value = page.evaluate(expression)
        if value:
            return value
        page.wait_for_timeout(EVERY_MS)
    raise RuntimeError(f"waited {seconds} s for {what} at {page.url.split('?')[0]}")


def to_picture(page: Page, act: Callable[[], object]) -> float:
    """Milliseconds from an event to the painted picture that follows it, NaN if none does.

    Returns when nothing more is fetched ahead.
    """
    before = page.evaluate("probe.changes.length")
    act()
    page.wait_for_timeout(PAUSE_MS)
    with contextlib.suppress(RuntimeError):
        wait_for(page, f"probe.changes.length > {before}", "a change", LOST_SECONDS)
    wait_for(page, f"performance.now() - probe.fetched > {AHEAD_MS}", "the end of the fetching")
    return page.evaluate(f"probe.changes[{before}] ?? NaN")


class Traffic:
    """What a page receives and sends from now on.

    Kinds are "code" (our modules and styles), "data" (what is answered, and the payload of
    websockets) and "Streamlit" (all other files).
    """

    def __init__(self, page: Page) -> None:
        self._page, self._last = page, time.monotonic()
        self._requests: list[Request] = []
        self._frames: list[tuple[float, int]] = []
        page.on("requestfinished", self._finished)
        page.on("websocket", self._opened)

    def wait_until_quiet(self) -> None:
        """Returns when nothing has come or gone for a while."""
        self._last = time.monotonic()
        deadline = self._last + WAIT_SECONDS
        while time.monotonic() < min(self._last + QUIET_SECONDS, deadline):
            self._page.wait_for_timeout(50)

    def kib(self, kind: str, start: float = 0.0, end: float = float("inf")) -> float:
        """KiB on the wire, of bodies, that came between two moments (seconds since 1970)."""
        sizes = [size for at, size in self._frames if kind == "data" and start < at <= end]
        for request in self._requests:
            timing = request.timing
            at = (timing["startTime"] + timing["responseEnd"]) / 1000
            if kind == kind_of(request.url) and start < at <= end:
                sizes.append(request.sizes()["responseBodySize"])
        return sum(sizes) / 1024

    def _finished(self, request: Request) -> None:
        self._last = time.monotonic()
        self._requests.append(request)

    def _opened(self, socket: WebSocket) -> None:
        for event in ("framereceived", "framesent"):
            socket.on(event, self._framed)

    def _framed(self, payload: str | bytes) -> None:
        self._last = time.monotonic()
        self._frames.append((time.time(), len(payload)))


def kind_of(url: str) -> str:
    """Whose file an address is."""
    path = urlsplit(url).path
    return "code" if path.startswith(CODE) else "data" if path.startswith(DATA) else "Streamlit"
