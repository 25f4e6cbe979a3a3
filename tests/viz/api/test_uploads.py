"""The route of uploads: what it keeps, and what it refuses without holding it."""

import asyncio
import hashlib
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.testclient import TestClient

from viz.api import routes
from viz.api.pool import HEADER, Turns, issued, visitor_of

MOST = 2  # MiB


@pytest.fixture
def kept() -> dict[str, bytes]:
    return {}


@pytest.fixture
def client(kept: dict[str, bytes]) -> TestClient:
    def keep(data: bytes, visitor: str) -> str:
        digest = hashlib.sha256(data).hexdigest()
        kept[digest] = data
        return digest

    app = Starlette(routes=[routes.upload_route(lambda: MOST, keep)])
    return TestClient(app, base_url="http://127.0.0.1:8501")


def test_a_file_is_kept_as_it_is(client: TestClient, kept: dict[str, bytes]) -> None:
    data = bytes(range(256)) * 700
    answer = client.post(routes.UPLOAD, content=data)
    assert answer.status_code == 200
    assert answer.headers["cache-control"] == "no-store"
    assert kept == {answer.json()["digest"]: data}


@pytest.mark.parametrize(
    ("data", "words"),
    [(b"", "the file is empty"), (b"x" * (MOST * 2**20 + 1), "expected a file of at most 2 MB")],
)
def test_an_empty_and_a_large_file_are_refused(client, kept, data: bytes, words: str) -> None:
    answer = client.post(routes.UPLOAD, content=data)
    assert (answer.status_code, answer.text, kept) == (400, words, {})


def test_a_body_that_does_not_arrive_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(routes, "LONGEST", 0.05)
    sent: list[Any] = []

    async def never() -> Any:
        await asyncio.Event().wait()

    async def send(message: Any) -> None:
        sent.append(message)

    headers = [(b"content-length", b"7")]
    scope = {"type": "http", "method": "POST", "path": routes.UPLOAD, "headers": headers}
    app = Starlette(routes=[routes.upload_route(lambda: MOST, lambda *_: "kept")])
    asyncio.run(app(scope, never, send))
    assert sent[0]["status"] == 400
    assert b"did not arrive in time" in sent[1]["body"]


def test_uploads_that_are_held_open_take_up_a_share_and_the_others_wait() -> None:
    async def test() -> None:
        turns, close, here = Turns(each=2, in_all=3), asyncio.Event(), []

        async def upload(visitor: str) -> None:
            async with turns.of(visitor):
                here.append(visitor)
                await close.wait()

        held = [asyncio.ensure_future(upload("a")) for _ in range(7)]
        other = [asyncio.ensure_future(upload(name)) for name in "bc"]
        await asyncio.sleep(0.01)
        assert here == ["a", "a", "b"]
        close.set()
        await asyncio.gather(*held, *other)
        assert sorted(here) == [*"aaaaaaabc"]

    asyncio.run(asyncio.wait_for(test(), 30))


def test_nobody_makes_up_a_visitor() -> None:
    def asked(id: str) -> str:
        headers = [(HEADER.encode(), id.encode("latin-1"))]
        scope = {"type": "http", "headers": headers, "client": ("192.0.2.7", 1)}
        return visitor_of(Request(scope))

    id, other = issued(), issued()
    name, _, signature = id.partition(".")
    assert asked(id) == id != other
    for made_up in ("", name, f"{name}.", f"x{name}.{signature}", f"{name}.{'0' * 64}", "é.é"):
        assert asked(made_up) == "192.0.2.7"
