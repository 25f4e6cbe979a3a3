"""The server around app.py: Streamlit with a strict Content-Security-Policy.

`python serve.py --port 8501` serves on this machine only (.streamlit/config.toml). start.py runs
this in .venv. Nothing here imports torch: app.py asks for it after its first output.
"""

import argparse
import base64
import contextlib
import hashlib
import importlib
import re
import threading
from collections.abc import AsyncIterator, Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

ROOT = Path(__file__).resolve().parent
SOON = 0.001  # seconds
FIRST_PAGE = (
    "numpy",
    "PIL.Image",
    "viz.pages.lessons.edge",
    "viz.pages.text.examples",
    "viz.pages.text.reading",
)
SECTIONS = ("explore", "learn", "lab")  # folders of viz/pages with a page in each file


def main() -> None:
    """Serve until interrupted."""
    parser = argparse.ArgumentParser(description="Serve Headscope.")
    parser.add_argument("--port", type=int, default=8501)
    parser.add_argument("--quiet", action="store_true", help="do not print the address")
    options = parser.parse_args()
    with contextlib.suppress(KeyboardInterrupt):
        run(options.port, options.quiet)


def run(port: int, quiet: bool) -> None:
    import streamlit as st
    from starlette.middleware import Middleware
    from starlette.requests import Request
    from starlette.responses import HTMLResponse
    from starlette.routing import Route
    from streamlit.file_util import get_static_dir

    deliver_last_messages()
    keep_what_was_said()
    leave_for_good()
    page = with_addresses(Path(get_static_dir(), "index.html").read_text(encoding="utf-8"))
    headers = security_headers(inline_script_hashes(page))

    async def index(_: Request) -> HTMLResponse:
        return HTMLResponse(page, headers={"Cache-Control": "no-cache"})

    app = st.App(
        ROOT / "app.py",
        routes=[Route(f"/{name}", index) for name in page_names()],
        middleware=[Middleware(WithHeaders, headers=headers)],
        lifespan=importing_ahead,
    )
    settings = {"server.port": port, "server.headless": True, "logger.hideWelcomeMessage": quiet}
    app.run(config=settings)


@contextlib.asynccontextmanager
async def importing_ahead(_: object) -> AsyncIterator[None]:
    """Imports what the first page asks for, while the browser is busy with Streamlit's files."""
    names = map(importlib.import_module, FIRST_PAGE)
    threading.Thread(target=lambda: list(names), name="first-page", daemon=True).start()
    yield


def deliver_last_messages() -> None:
    """Lets a session deliver what a finished run still has to say before the next run begins.

    The last messages of a run wait in the event loop. When the browser's next event is handled
    before them, Streamlit 1.67 starts another runner at once, and from then on drops everything the
    one before had to say: what the user changed is never shown. Events that come meanwhile wait
    too: an older one handled after a newer one would undo it.
    """
    from streamlit.runtime.app_session import AppSession, AppSessionState

    begin: Callable[[Any, Any], None] = AppSession._create_scriptrunner
    waiting: WeakKeyDictionary[Any, list[Any]] = WeakKeyDictionary()  # of each session, in order

    def begin_after(session: Any, data: Any) -> None:
        events = waiting.setdefault(session, [])
        events.append(data)
        if len(events) == 1:
            begin_waiting(session)

    def begin_waiting(session: Any) -> None:
        events = waiting[session]
        if session._state is AppSessionState.SHUTDOWN_REQUESTED:
            events.clear()
        while events:
            runner = session._scriptrunner  # until its last message is delivered
            if runner is None:
                begin(session, events.pop(0))
            elif runner.request_rerun(events[0]):
                del events[0]
            else:
                session._event_loop.call_later(SOON, begin_waiting, session)
                return

    AppSession._create_scriptrunner = begin_after  # pyright: ignore[reportAttributeAccessIssue]


def keep_what_was_said() -> None:
    """Lets every message of a finished run reach the browser when a fragment's run follows it.

    Streamlit 1.67 drops what this fragment has said and not yet sent, and tells the browser that
    the run before was cut short: what that run has taken off the page would stay there.
    """
    from streamlit.runtime.app_session import AppSession

    clear: Callable[[Any, Any], None] = AppSession._clear_queue

    def keep(session: Any, fragment_ids_this_run: Any = None) -> None:
        if fragment_ids_this_run:
            session._browser_queue._delta_index_map = {}  # what is said next comes after all that
        else:
            clear(session, fragment_ids_this_run)

    AppSession._clear_queue = keep  # pyright: ignore[reportAttributeAccessIssue]


def leave_for_good() -> None:
    """Lets nothing that a left page still says bring the browser back to it.

    Streamlit 1.67 joins a run of another page that has not begun with what a fragment of the page
    before asks for just after, and runs the page before.
    """
    from streamlit.runtime.app_session import AppSession

    ask: Callable[[Any, Any], None] = AppSession.request_rerun
    pages: WeakKeyDictionary[Any, str] = WeakKeyDictionary()  # what each session last asked for

    def ask_of_this_page(session: Any, client_state: Any) -> None:
        page = client_state.page_script_hash if client_state else ""
        if client_state and client_state.fragment_id:
            if pages.get(session) and page != pages[session]:
                return
        else:
            pages[session] = page
        ask(session, client_state)

    AppSession.request_rerun = ask_of_this_page  # pyright: ignore[reportAttributeAccessIssue]


def page_names() -> list[str]:
    """The addresses of the pages: the names of their files."""
    pages = ROOT / "viz" / "pages"
    return sorted(path.stem for name in SECTIONS for path in pages.glob(f"{name}/[!_]*.py"))


def with_addresses(page: str) -> str:
    """Streamlit's page, told where its server is.

    Left to itself it tries the page's own address first, and the browser reports two errors.
    """
    origin = "location.origin+'/'"
    script = f"window.__streamlit={{BACKEND_BASE_URL:{origin},MAIN_PAGE_BASE_URL:{origin}}}"
    return page.replace("<script>", f"<script>{script}</script><script>", 1)


def inline_script_hashes(page: str) -> list[str]:
    """The sources a policy must name for the scripts written into this page."""
    scripts = re.findall(r"<script(?![^>]*\ssrc=)[^>]*>(.*?)</script>", page, re.DOTALL)
    digests = (hashlib.sha256(script.encode()).digest() for script in scripts)
    return [f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests]


def security_headers(script_hashes: Iterable[str]) -> dict[str, str]:
    """Everything comes from this server, nothing from elsewhere, and nobody frames it."""
    policy = {
        "default-src": "'self'",
        # old Safari does not count a websocket to this server as 'self'
        "connect-src": "'self' ws://127.0.0.1:* ws://localhost:*",
        "img-src": "'self' data: blob:",
        "style-src": "'self' 'unsafe-inline'",
        "font-src": "'self' data:",
        "object-src": "'none'",
        "base-uri": "'self'",
        "form-action": "'self'",
        "frame-ancestors": "'none'",
        "script-src": " ".join(["'self'", *script_hashes]),
    }
    return {
        "Content-Security-Policy": "; ".join(f"{name} {value}" for name, value in policy.items()),
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
    }


class WithHeaders:
    """ASGI middleware that adds the same headers to every HTTP response."""

    def __init__(self, app: "ASGIApp", headers: dict[str, str]) -> None:
        self.app = app
        self.headers = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
        self.names = {name for name, _ in self.headers}

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        async def send_with_headers(message: "Message") -> None:
            if message["type"] == "http.response.start":
                others = [pair for pair in message["headers"] if pair[0].lower() not in self.names]
                message = {**message, "headers": others + self.headers}
            await send(message)

        await self.app(scope, receive, send_with_headers)


if __name__ == "__main__":
    main()
