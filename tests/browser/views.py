"""A loopback server with one view on a page, and answers that a test can hold back."""

import threading
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Protocol
from urllib.parse import parse_qsl, urlsplit

from playwright.sync_api import Page, ViewportSize, expect

from viz.api.endpoint import body_of
from viz.web.standalone import page as standalone

PAGES = ("/", "/text", "/image")
VIEW = ".headscope[data-painted]"
SECONDS = 60  # a busy machine is slow, not wrong
Answer = bytes | tuple[bytes, str] | dict[str, Any]
SIZES: dict[str, ViewportSize] = {
    "wide": {"width": 1280, "height": 900},
    "phone": {"width": 390, "height": 844},
}
LOOKS = [("wide", "light"), ("phone", "dark")]


class Source(Protocol):
    """What answers the requests about a trace."""

    trace: str

    def answer(self, route: str, query: dict[str, str]) -> Answer:
        """The body of a response, as the app's own API gives it."""
        ...


def open_page(page: Page, url: str) -> None:
    """Opens a page of the app, and waits for its picture."""
    page.goto(url)
    painted(page)


def painted(page: Page, **data: object) -> None:
    """Waits for one picture, of the settings of now, with these data attributes."""
    wanted = "".join(f"[data-{name}='{value}']" for name, value in data.items())
    expect(page.locator(f"{VIEW}{wanted}:not(.hs-busy)")).to_have_count(1, timeout=60_000)


def trace_of(page: Page) -> str:
    """The id of the trace that is shown."""
    return page.locator(VIEW).get_attribute("data-trace") or ""


def another_trace(page: Page, before: str) -> None:
    """Waits for the picture of another trace."""
    expect(page.locator(f"{VIEW}:not([data-trace='{before}']):not(.hs-busy)")).to_have_count(1)


def open_lab(page: Page, tab: str) -> None:
    """Opens a tab of the Lab."""
    lab = page.get_by_role("button", name="Lab", exact=True).first
    if lab.get_attribute("aria-expanded") == "false":
        lab.press("Enter")
    page.locator(".hs-lab-tabs").first.get_by_role("button", name=tab, exact=True).press("Enter")


def go_to_head(page: Page, layer: int, head: int | str) -> None:
    """Chooses a head by the arrow keys; layers stand below each other."""
    page.locator(".hs-body").first.focus()
    view = page.locator(".headscope[data-site]").first
    order = {"mean": 998, "max": 999}
    wanted = {"site": layer, "head": order.get(str(head), head)}
    for name, keys in (("site", ("ArrowUp", "ArrowDown")), ("head", ("ArrowLeft", "ArrowRight"))):
        while True:
            text = view.get_attribute(f"data-{name}") or "0"
            by = int(wanted[name]) - order.get(text, int(text) if text.isdigit() else 0)
            if not by:
                break
            page.keyboard.press(keys[by > 0])
            expect(view).not_to_have_attribute(f"data-{name}", text)


@dataclass(frozen=True)
class Request:
    """A request for something about a trace.

    Attributes:
        trace: its id.
        route: the last part of the path.
        query: as the view wrote it.
    """

    trace: str
    route: str
    query: str

    @property
    def path(self) -> str:
        return f"{self.route}?{self.query}" if self.query else self.route


@dataclass
class Server:
    """A page with a view, the same at every path of `PAGES`, and the API that the view asks.

    Attributes:
        url: where.
        session: by which the view's requests are known.
        props: of the view.
        sources: what answers, by trace.
        requests: every one so far.
    """

    url: str
    session: str
    props: dict[str, Any] = field(default_factory=dict)
    sources: dict[str, Source] = field(default_factory=dict)
    requests: list[Request] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._changed = threading.Condition()
        self._held: set[str] = set()

    def page(self) -> str:
        """What a browser gets."""
        return standalone(None, {"session": self.session, **self.props})

    def paths(self, *routes: str) -> list[str]:
        """What was asked for of these routes, in order; of all routes if none is named."""
        with self._changed:
            return [each.path for each in self.requests if not routes or each.route in routes]

    def hold(self, *routes: str) -> None:
        """Lets requests of these routes wait."""
        with self._changed:
            self._held.update(routes)

    def release(self, *routes: str) -> None:
        """Answers them; all that wait if none is named."""
        with self._changed:
            self._held.difference_update(routes or tuple(self._held))
            self._changed.notify_all()

    def until(self, condition: Callable[[], Any]) -> Any:
        """Waits until something about the requests is the case, and returns it."""
        with self._changed:
            if not self._changed.wait_for(condition, SECONDS):
                raise AssertionError(f"it did not come about; asked for: {self.requests}")
            return condition()

    def respond(self, path: str) -> tuple[int, str, bytes]:
        """Status, media type and body."""
        url = urlsplit(path)
        trace, route = url.path.split("/")[-2:]
        if route == "progress":  # asked while another request takes over a second
            return 200, "application/json", b"{}"
        with self._changed:
            self.requests.append(Request(trace, route, url.query))
            self._changed.notify_all()
            self._changed.wait_for(lambda: route not in self._held, SECONDS)
        if trace not in self.sources:
            return 404, "text/plain", b"there is no such result"
        answer = self._answer(self.sources[trace], route, dict(parse_qsl(url.query)))
        body, kind = body_of(answer)
        return 200, kind, body

    def _answer(self, source: Source, route: str, query: dict[str, str]) -> Answer:
        return source.answer(route, query)


class Host:
    """What listens, for all tests: pages of one origin share a process, which starts once.

    A request about a trace says whose it is by its session: one that a closed page sent last does
    not reach the server of the next test.
    """

    def __init__(self, url: str) -> None:
        self.url = url
        self._servers: dict[str, Server] = {}

    def server(self) -> Server:
        """A new one, whose page is shown from now on."""
        session = f"room{len(self._servers)}"
        server = self._servers[session] = Server(self.url, session)
        return server

    def respond(self, path: str, session: str) -> tuple[int, str, bytes]:
        """Status, media type and body."""
        if urlsplit(path).path in PAGES:
            server = next(reversed(self._servers.values()))
            return 200, "text/html; charset=utf-8", server.page().encode()
        if not path.startswith("/api/trace/"):
            return 200, "text/plain", b""
        if session not in self._servers:
            return 400, "text/plain", b"there is no such session"
        return self._servers[session].respond(path)


@contextmanager
def hosting() -> Generator[Host, None, None]:
    """Listens on a free port of this machine."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            session = self.headers.get("X-Headscope-Session", "")
            status, kind, body = host.respond(self.path, session)
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Cache-Control", "no-store")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            """Says nothing."""

    class Quiet(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, request: Any, client_address: Any) -> None:
            """A browser that no longer waits is no error."""

    httpd = Quiet(("127.0.0.1", 0), Handler)
    host = Host(f"http://127.0.0.1:{httpd.server_port}")
    thread = threading.Thread(target=httpd.serve_forever, daemon=True)
    thread.start()
    try:
        yield host
    finally:
        httpd.shutdown()
        httpd.server_close()


class View:
    """A view on a page, and the server it asks."""

    def __init__(
        self, page: Page, server: Server, source: Source, props: Mapping[str, Any], path: str
    ) -> None:
        self.page, self.server, self.source = page, server, source
        server.sources[source.trace] = source
        server.props = {"trace": source.trace, **props}
        page.goto(server.url + path)
        self.root = page.locator(".headscope")

    def update(self, **props: Any) -> None:
        """Sends other props, as a run of Python does."""
        self.page.evaluate("headscope.update", props)

    def events(self) -> list[Any]:
        return self.page.evaluate("headscope.events")

    def wait(self, condition: str, argument: Any = None) -> None:
        """Waits for a condition in JavaScript."""
        self.page.wait_for_function(condition, arg=argument, timeout=1000 * SECONDS)

    def painted(self) -> int:
        return int(self.root.get_attribute("data-painted") or 0)

    def is_painted(self, after: int = 0) -> None:
        """Waits until there is a picture that was drawn after this many."""
        self.wait(
            "count => Number(document.querySelector('.headscope').dataset.painted ?? 0) > count",
            after,
        )

    def shows(self, site: int, head: int | str) -> None:
        """Waits until this head is chosen."""
        expect(self.root).to_have_attribute("data-site", str(site))
        expect(self.root).to_have_attribute("data-head", str(head))
