"""The HTTP server of the app: security headers, page routes, socket options."""

import base64
import contextlib
import hashlib
import os
import re
import socket
import stat
import threading
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager
from functools import cache
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote, urlencode

if TYPE_CHECKING:
    from starlette.middleware import Middleware
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import Route
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

Query = dict[str, str]

NAME = "Headscope"
ICON = base64.b64encode((Path(__file__).parents[1] / "icon.svg").read_bytes()).decode()
TITLE = re.compile(r"<title>.*?</title>", re.DOTALL)
FAVICON = re.compile(r'<link rel="shortcut icon"[^>]*>')
LOCAL = "'self' http://127.0.0.1:* http://localhost:*"  # notebooks and slides of this machine
DESCRIPTORS = Path("/dev/fd")


def lifespan(
    prepare: Callable[[], None],
) -> "Callable[[object], AbstractAsyncContextManager[None]]":
    """The lifespan of the server.

    Args:
        prepare: called in a thread, while the browser loads Streamlit's files.
    """

    @contextlib.asynccontextmanager
    async def running(_: object) -> AsyncIterator[None]:
        send_at_once()
        threading.Thread(target=prepare, daemon=True).start()
        yield

    return running


def send_at_once() -> None:
    """Turns off Nagle's algorithm on this process's listening sockets; connections inherit it.

    Headers and body are written separately. On the socket that `streamlit run` opens, a small body
    would wait 44 ms for the browser's delayed ACK of the headers.
    """
    if not DESCRIPTORS.is_dir():
        return
    for name in os.listdir(DESCRIPTORS):
        with contextlib.suppress(OSError):
            if not stat.S_ISSOCK(os.fstat(int(name)).st_mode):
                continue
            with socket.socket(fileno=os.dup(int(name))) as listener:
                if listener.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
                    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


def middleware(hosts: Iterable[str] = ()) -> "list[Middleware]":
    """The middleware applied to every request.

    Args:
        hosts: the names of this server; the prefix `*.` allows subdomains. Empty for all.
    """
    from starlette.middleware import Middleware
    from starlette.middleware.trustedhost import TrustedHostMiddleware

    scripts, hosts = inline_script_hashes(index_page()), tuple(hosts)
    names = [f"[{name.strip('[]')}]" if name.count(":") > 1 else name for name in hosts]
    return [
        Middleware(
            WithHeaders,
            headers=security_headers(scripts, hosts),
            embedded=security_headers(scripts, hosts, framed_by=LOCAL),
        ),
        # with DNS rebinding, a foreign page points its own host name at this machine
        Middleware(TrustedHostMiddleware, allowed_hosts=names or ["*"], www_redirect=False),
        Middleware(OwnPages),
    ]


class Preview(NamedTuple):
    """A link in words: what it leads to, and one sentence."""

    title: str
    description: str


def page_routes(
    names: Iterable[str],
    first: str,
    moved: Mapping[str, tuple[str, Callable[[Query], Query]]],
    preview: Callable[[str, Query], Preview],
    picture: str,
    modules: Callable[[str, Query], Iterable[str]] = lambda name, query: (),
) -> "list[Route]":
    """The routes of the pages, which all serve the same file, with the preview of their link.

    Args:
        names: of the pages.
        first: the page at "/"; its own path redirects there.
        moved: older paths, each with the path of the page that took its place and what its query
            is there.
        preview: of a link to a page, by its name and query.
        picture: URL path of a picture for the previews.
        modules: URL paths of modules that a link needs, by the page's name and its query: fetched
            with the page, not one after the other once Streamlit draws.
    """
    from starlette.responses import HTMLResponse, RedirectResponse
    from starlette.routing import Route

    async def index(request: "Request") -> "Response":
        name, query = request.url.path.strip("/") or first, dict(request.query_params)
        picture_url = f"{str(request.base_url).rstrip('/')}{picture}"
        page = with_preview(index_page(), preview(name, query), picture_url)
        links = "".join(
            f'<link rel="modulepreload" href="{path}" />' for path in modules(name, query)
        )
        page = page.replace("</head>", f"{links}</head>", 1)
        return HTMLResponse(page, headers={"Cache-Control": "no-cache"})

    async def lead(request: "Request") -> "Response":
        to, now = paths[request.url.path.strip("/")]
        query = urlencode(now(dict(request.query_params)), quote_via=quote)
        path = f"./{to}?{query}" if query else f"./{to}"
        return RedirectResponse(path, headers={"Cache-Control": "no-cache"})

    paths = {first: ("", dict), **moved}
    pages = [Route(f"/{'' if name == first else name}", index) for name in names]
    return [*pages, *(Route(f"/{name}", lead) for name in paths)]


def with_preview(page: str, preview: Preview, picture: str) -> str:
    """An HTML page with the title, the icon and the tags of a link.

    Args:
        page: of any title and icon.
        preview: of the link.
        picture: absolute URL of a picture.
    """
    title, description, picture = map(escape, (*preview, picture))
    head = (
        f"<title>{title} · {NAME}</title>"
        f'<meta name="description" content="{description}" />'
        '<meta name="twitter:card" content="summary_large_image" />'
        '<meta property="og:type" content="website" />'
        f'<meta property="og:site_name" content="{NAME}" />'
        f'<meta property="og:title" content="{title}" />'
        f'<meta property="og:description" content="{description}" />'
        f'<meta property="og:image" content="{picture}" />'
    )
    # the icon comes with the page: browsers ask for it before anything else is there
    icon = f'<link rel="icon" href="data:image/svg+xml;base64,{ICON}" />'
    return FAVICON.sub(lambda _: icon, TITLE.sub(lambda _: head, page, count=1), count=1)


@cache
def index_page() -> str:
    """Streamlit's index page, configured with the address of its server.

    Otherwise it would try the path of the page first, which logs two errors in the browser console.
    """
    import streamlit

    page = Path(streamlit.__file__).with_name("static") / "index.html"
    origin = "location.origin+'/'"
    script = f"window.__streamlit={{BACKEND_BASE_URL:{origin},MAIN_PAGE_BASE_URL:{origin}}}"
    text = page.read_text(encoding="utf-8")
    return text.replace("<script>", f"<script>{script}</script><script>", 1)


def inline_script_hashes(page: str) -> list[str]:
    """The hashes that the Content-Security-Policy needs for the page's inline scripts."""
    scripts = re.findall(r"<script(?![^>]*\ssrc=)[^>]*>(.*?)</script>", page, re.DOTALL)
    digests = (hashlib.sha256(script.encode()).digest() for script in scripts)
    return [f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests]


def security_headers(
    script_hashes: Iterable[str], hosts: Iterable[str] = (), framed_by: str = "'none'"
) -> dict[str, str]:
    """Security headers: resources from this server only, no framing by other sites.

    Args:
        script_hashes: of the inline scripts.
        hosts: the names of this server; patterns among them add nothing.
        framed_by: which pages may frame the response.
    """
    names = dict.fromkeys(["127.0.0.1", "localhost", *(h for h in hosts if "*" not in h)])
    policy = {
        "default-src": "'self'",
        # in old Safari 'self' does not include websockets; camera and microphone of Streamlit hand
        # over what they took as data: and blob:
        "connect-src": " ".join(
            ["'self'", "data:", "blob:", *(f"ws://{name}:*" for name in names)]
        ),
        "img-src": "'self' data: blob:",
        "media-src": "'self' blob:",
        "style-src": "'self' 'unsafe-inline'",
        "font-src": "'self' data:",
        "object-src": "'none'",
        "base-uri": "'self'",
        "form-action": "'self'",
        "frame-ancestors": framed_by,
        "script-src": " ".join(["'self'", *script_hashes]),
    }
    return {
        "Content-Security-Policy": "; ".join(f"{name} {value}" for name, value in policy.items()),
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
    }


class OwnPages:
    """ASGI middleware that refuses websockets and API requests of pages of other sites.

    Streamlit lets in websockets of every port of this machine. A reverse proxy must pass on the
    Host that the browser named.
    """

    def __init__(self, app: "ASGIApp") -> None:
        self.app = app

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        from starlette.datastructures import Headers
        from starlette.responses import PlainTextResponse

        headers, socket = Headers(scope=scope), scope["type"] == "websocket"
        host, origin = headers.get("host", "").lower(), headers.get("origin")
        origins = f"http://{host.removesuffix(':80')}", f"https://{host.removesuffix(':443')}"
        foreign = origin is not None and origin.lower() not in origins
        if not socket:
            foreign |= headers.get("sec-fetch-site", "none") not in ("none", "same-origin")
        if not foreign or not (socket or scope["path"].startswith("/api/")):
            await self.app(scope, receive, send)
        elif socket:
            await send({"type": "websocket.close", "code": 1008})
        else:
            refusal = "requests of other sites are not allowed"
            response = PlainTextResponse(refusal, 403, {"Cache-Control": "no-store"})
            await response(scope, receive, send)


class WithHeaders:
    """ASGI middleware that adds headers to every HTTP response.

    Args:
        app: the application.
        headers: of every response but those below.
        embedded: of responses to embed links, which pages of this machine may frame.
    """

    def __init__(self, app: "ASGIApp", headers: dict[str, str], embedded: dict[str, str]) -> None:
        self.app, self.headers, self.embedded = app, headers, embedded

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        from starlette.datastructures import MutableHeaders

        parts = scope.get("query_string", b"").split(b"&")
        headers = self.embedded if b"embed=true" in parts else self.headers

        async def send_with_headers(message: "Message") -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(headers)
            await send(message)

        await self.app(scope, receive, send_with_headers)
