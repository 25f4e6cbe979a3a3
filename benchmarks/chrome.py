"""Chromium for benchmarks: fresh contexts with a probe, and network traffic."""

import contextlib
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Browser, CDPSession, Page, ViewportSize, sync_playwright

from tests.browser.chromium import installed_browser, launch_arguments, playwright_browser

PROBE = Path(__file__).with_name("probe.js")
SIZE = ViewportSize(width=1280, height=900)
WAIT_SECONDS = 60
QUIET_SECONDS = 1.0


@contextlib.contextmanager
def launched() -> Iterator[Browser]:
    """A running browser, closed at the end.

    Raises:
        RuntimeError: if there is none on this machine.
    """
    path = installed_browser() or playwright_browser()
    if path is None:
        raise RuntimeError(
            "no Chromium found: install Chromium or Chrome, or set CHROME to one you have"
        )
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=launch_arguments())
        try:
            yield browser
        finally:
            browser.close()


@contextlib.contextmanager
def fresh_page(browser: Browser) -> Iterator[Page]:
    """A page without cache, cookies or history, with the probe in it."""
    context = browser.new_context(viewport=SIZE, color_scheme="light")
    try:
        context.add_init_script(path=PROBE)
        page = context.new_page()
        page.set_default_timeout(WAIT_SECONDS * 1000)
        yield page
    finally:
        context.close()


EVERY_MS = 30  # between two questions


def wait_for(page: Page, expression: str, what: str) -> Any:
    """The value of an expression once it is true; asks seldom, so as not to disturb the page.

    Raises:
        RuntimeError: naming what was waited for, if it does not come.
    """
    deadline = time.monotonic() + WAIT_SECONDS
    while time.monotonic() < deadline:
        value = page.evaluate(expression)
        if value:
            return value
        page.wait_for_timeout(EVERY_MS)
    raise RuntimeError(f"waited {WAIT_SECONDS} s for {what} at {page.url.split('?')[0]}")


@dataclass
class Traffic:
    """What a page sent and received, as its network events tell.

    Attributes:
        events: (seconds since 1970, kind, bytes); kinds are "websocket in", "websocket out" (as
            payload), and, as on the wire, "Streamlit's files", "our files", "API" and "other HTTP".
    """

    events: list[tuple[float, str, int]] = field(default_factory=list)
    _kinds: dict[str, str] = field(default_factory=dict)
    _ahead: float = 0.0  # how far the wall clock is ahead of the clock of the events
    _last: float = field(default_factory=time.monotonic)

    @staticmethod
    @contextlib.contextmanager
    def of(page: Page) -> Iterator["Traffic"]:
        """Listens while it is open; listening costs the page some time."""
        traffic = Traffic()
        session: CDPSession = page.context.new_cdp_session(page)
        session.on("Network.requestWillBeSent", traffic._requested)
        session.on("Network.loadingFinished", traffic._loaded)
        session.on("Network.webSocketFrameReceived", lambda e: traffic._frame(e, "websocket in"))
        session.on("Network.webSocketFrameSent", lambda e: traffic._frame(e, "websocket out"))
        session.send("Network.enable")
        try:
            yield traffic
        finally:
            session.detach()

    def sums(self, start: float = 0.0, end: float = float("inf")) -> dict[str, int]:
        """Bytes by kind between two moments."""
        total: dict[str, int] = {}
        for at, kind, size in self.events:
            if start < at <= end:
                total[kind] = total.get(kind, 0) + size
        return dict(sorted(total.items()))

    def wait_until_quiet(self, page: Page, seconds: float = QUIET_SECONDS) -> None:
        """Returns when nothing has come or gone for that long."""
        self._last = time.monotonic()
        deadline = self._last + WAIT_SECONDS
        while time.monotonic() < min(self._last + seconds, deadline):
            page.wait_for_timeout(50)

    def _requested(self, event: dict[str, Any]) -> None:
        self._ahead = event["wallTime"] - event["timestamp"]
        self._kinds[event["requestId"]] = kind_of(event["request"]["url"])

    def _loaded(self, event: dict[str, Any]) -> None:
        kind = self._kinds.get(event["requestId"], "other HTTP")
        self._note(event, kind, int(event["encodedDataLength"]))

    def _frame(self, event: dict[str, Any], kind: str) -> None:
        self._note(event, kind, payload_size(event["response"]))

    def _note(self, event: dict[str, Any], kind: str, size: int) -> None:
        self._last = time.monotonic()
        self.events.append((event["timestamp"] + self._ahead, kind, size))


def kind_of(url: str) -> str:
    """Whose file an address is."""
    path = urlsplit(url).path
    if path.startswith(("/assets/", "/_stcore/bidi-components/")):
        return "our files"
    if path.startswith(("/api/", "/bytes")):
        return "API"
    page = "." not in path and not path.startswith("/_stcore")
    return "Streamlit's files" if page or path.startswith("/static/") else "other HTTP"


def payload_size(frame: dict[str, Any]) -> int:
    """Bytes of a websocket frame: text as UTF-8, everything else arrives as base64."""
    data = frame["payloadData"]
    if frame["opcode"] == 1:
        return len(data.encode())
    return len(data) * 3 // 4 - data.count("=", -2)
