"""The headers around every answer, the addresses of the pages, and prompt small replies."""

import asyncio
import re
import socket
import threading
from contextlib import nullcontext
from typing import Any
from urllib.parse import parse_qsl

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient
from starlette.websockets import WebSocket, WebSocketDisconnect

from viz import web
from viz.api import server
from viz.api.server import with_preview
from viz.pages.explore import old_links
from viz.pages.frame import registry


def test_inline_scripts_are_named_by_hash() -> None:
    page = '<script>\nhello\n</script><script type="module" src="./x.js"></script>'
    assert server.inline_script_hashes(page) == server.inline_script_hashes(
        "<script>\nhello\n</script>"
    )
    # sha256 of nothing, as every table of test vectors gives it
    empty = "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"
    assert server.inline_script_hashes("<script></script>") == [empty]


def test_nothing_comes_from_elsewhere() -> None:
    policy = server.security_headers([])["Content-Security-Policy"]
    sources = {word for part in policy.split("; ") for word in part.split()[1:]}
    assert sources == {
        "'self'",
        "'none'",
        "'unsafe-inline'",
        "data:",
        "blob:",
        "ws://127.0.0.1:*",
        "ws://localhost:*",
    }
    assert "script-src 'self';" in policy + ";"


def test_views_may_ask_every_name_of_the_server() -> None:
    names = ["localhost", "192.0.2.7", "*.example"]
    policy = server.security_headers([], names)["Content-Security-Policy"]
    assert (
        "connect-src 'self' data: blob: ws://127.0.0.1:* ws://localhost:* ws://192.0.2.7:*;"
        in policy
    )


def test_every_answer_carries_the_headers() -> None:
    sent: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        headers = [(b"x-content-type-options", b"wrong"), (b"content-type", b"text/plain")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        return {}

    wrapped = server.WithHeaders(app, {"X-Content-Type-Options": "nosniff"}, {})
    asyncio.run(wrapped({"type": "http"}, receive, send))
    assert sorted(sent[0]["headers"]) == [
        (b"content-type", b"text/plain"),
        (b"x-content-type-options", b"nosniff"),
    ]


HOST, NAMES = "127.0.0.1:8501", ["127.0.0.1", "app.example", "::1"]
OTHERS = [
    {"origin": "http://127.0.0.1:9000"},
    {"origin": "http://evil.example"},
    {"origin": "null"},
    {"origin": ""},
    {"origin": f"http://{HOST}.evil.example"},
    {"origin": f"http://user@{HOST}"},
]
OWN = [
    {"origin": f"http://{HOST}"},
    {"origin": f"https://{HOST}"},
    {"host": "app.example:443", "origin": "https://app.example"},  # behind a proxy
    {"host": "[::1]:8501", "origin": "http://[::1]:8501"},
]
FOREIGN_HOSTS = [
    {"host": ""},
    {"host": "evil.example", "origin": "http://evil.example"},
    {"host": "127.0.0.1.evil.example"},
    {"host": "127.0.0.1@evil.example"},
    {"host": "[::1"},
]
ASKED = [
    *((headers, True, 200) for headers in [*OWN, {"sec-fetch-site": "same-origin"}]),
    *((headers, False, 403) for headers in OTHERS),
    *(({"sec-fetch-site": site}, True, 403) for site in ("cross-site", "same-site")),
    *((headers, False, 400) for headers in FOREIGN_HOSTS),
]


@pytest.mark.parametrize(("headers", "accepted", "status"), ASKED)
def test_websockets_and_the_api_are_for_the_pages_of_this_server(
    headers: dict[str, str], accepted: bool, status: int
) -> None:
    async def stream(socket: WebSocket) -> None:
        await socket.accept()

    async def answer(request: Request) -> PlainTextResponse:
        return PlainTextResponse("answer")

    routes = [WebSocketRoute("/_stcore/stream", stream), Route("/api/trace", answer)]
    app = Starlette(routes=routes, middleware=server.middleware(NAMES))
    client = TestClient(app)
    asked = client.get("/api/trace", headers={"host": HOST, **headers})
    assert asked.status_code == status
    assert asked.status_code == 200 or "\n" not in asked.text
    refusal = nullcontext() if accepted else pytest.raises(WebSocketDisconnect)
    socket = client.websocket_connect("/_stcore/stream", headers={"host": HOST, **headers})
    with refusal, socket:
        pass


def test_only_embed_links_may_be_framed(client: TestClient) -> None:
    policies = [
        client.get(address).headers["content-security-policy"]
        for address in ("/positions", "/positions?layer=1&embed=true", "/positions?x=embed=true")
    ]
    framed = [re.search("frame-ancestors ([^;]*)", policy)[1] for policy in policies]  # type: ignore[index]
    assert framed == ["'none'", "'self' http://127.0.0.1:* http://localhost:*", "'none'"]


def test_a_browser_keeps_the_code_of_one_version(client: TestClient) -> None:
    path = web.path()
    kept = client.get(f"{path}/web/streamlit/kinds.js")
    assert kept.text == (web.WEB / "streamlit" / "kinds.js").read_text(encoding="utf-8")
    assert "immutable" in kept.headers["cache-control"]
    assert "javascript" in kept.headers["content-type"]  # a module of another type is refused
    made = client.get(f"{path}/web/core/declared.js")
    assert made.text == web.generated_modules()["web/core/declared.js"]
    assert made.headers["content-type"] == kept.headers["content-type"]
    assert client.get("/assets/0123456789abcdef/web/streamlit/kinds.js").status_code == 404
    for name in ("web/__init__.py", "web/types.d.ts", "web/..%2fapp.css", "app.css"):
        assert client.get(f"{path}/{name}").status_code == 404


@pytest.fixture
def client() -> TestClient:
    routes = [
        *server.page_routes(
            registry.ENTRIES, registry.FIRST, old_links.MOVED, registry.preview, "/picture.png"
        ),
        *web.routes(),
    ]
    app = Starlette(routes=routes, middleware=server.middleware())
    return TestClient(app, base_url="http://127.0.0.1:8501", follow_redirects=False)


@pytest.mark.parametrize("name", registry.ENTRIES)
def test_every_page_has_an_address(client: TestClient, name: str) -> None:
    answer = client.get("/" if name == registry.FIRST else f"/{name}")
    picture = "http://127.0.0.1:8501/picture.png"
    page = with_preview(server.index_page(), registry.preview(name, {}), picture)
    assert (answer.status_code, answer.text) == (200, page)
    assert answer.headers["cache-control"] == "no-cache"
    assert "default-src 'self'" in answer.headers["content-security-policy"]


def test_the_modules_of_a_page_s_view_come_with_the_page() -> None:
    names = registry.ENTRIES, registry.FIRST, old_links.MOVED, registry.preview, "/picture.png"
    app = Starlette(routes=server.page_routes(*names, lambda name, _: [f"/{name}.js"] * 2))
    page = TestClient(app, base_url="http://127.0.0.1:8501").get("/corpus").text
    link = '<link rel="modulepreload" href="/corpus.js" />'
    assert page.split("</head>")[0].endswith(2 * link)


@pytest.mark.parametrize("query", ["", "?input=a%20b&head=max"])
def test_the_first_page_s_own_address_leads_to_it(client: TestClient, query: str) -> None:
    answer = client.get(f"/{registry.FIRST}{query}")
    assert answer.status_code == 307
    assert answer.headers["location"] == f"./{query}"


def test_older_addresses_lead_to_the_same_picture(client: TestClient) -> None:
    for path, (to, now) in old_links.MOVED.items():
        location = client.get(f"/{path}?layer=2&embed=true").headers["location"]
        query = dict(parse_qsl(location.removeprefix(f"./{to}?")))
        assert query == now({"layer": "2", "embed": "true"})


def test_listening_sockets_send_at_once_and_so_do_their_connections() -> None:
    if not server.DESCRIPTORS.is_dir():  # Windows
        return
    with socket.socket() as listening, socket.socket() as plain:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        server.send_at_once()
        assert listening.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        assert not plain.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        with socket.create_connection(listening.getsockname()):
            accepted, _ = listening.accept()
            with accepted:
                assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_the_first_page_is_prepared_beside_the_running_server() -> None:
    threads: list[threading.Thread] = []

    async def run() -> None:
        async with server.lifespan(lambda: threads.append(threading.current_thread()))(None):
            while not threads:
                await asyncio.sleep(0.001)

    asyncio.run(asyncio.wait_for(run(), 30))
    assert threads != [threading.current_thread()]
