"""The route of uploads: what it keeps, and what it refuses without holding it."""

import asyncio
import hashlib
from collections.abc import AsyncIterator

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from viz.api import uploads
from viz.api.requests import QuestionError

MOST = 2  # MiB


@pytest.fixture
def kept() -> dict[str, bytes]:
    return {}


@pytest.fixture
def client(kept: dict[str, bytes]) -> TestClient:
    def keep(data: bytes) -> str:
        digest = hashlib.sha256(data).hexdigest()
        kept[digest] = data
        return digest

    app = Starlette(routes=[uploads.route(lambda: ["127.0.0.1"], lambda: MOST, keep)])
    return TestClient(app, base_url="http://127.0.0.1:8501")


def test_a_file_is_kept_as_it_is(client: TestClient, kept: dict[str, bytes]) -> None:
    data = bytes(range(256)) * 700
    answer = client.post(uploads.PATH, content=data)
    assert answer.status_code == 200
    assert answer.headers["cache-control"] == "no-store"
    assert kept == {answer.json()["digest"]: data}


@pytest.mark.parametrize(
    ("data", "words"),
    [(b"", "the file is empty"), (b"x" * (MOST * 2**20 + 1), "expected a file of at most 2 MB")],
)
def test_an_empty_and_a_large_file_are_refused(client, kept, data: bytes, words: str) -> None:
    answer = client.post(uploads.PATH, content=data)
    assert (answer.status_code, answer.text, kept) == (400, words, {})


def test_a_file_of_the_largest_size_is_kept(client: TestClient, kept: dict[str, bytes]) -> None:
    assert client.post(uploads.PATH, content=b"x" * MOST * 2**20).status_code == 200
    assert [len(data) for data in kept.values()] == [MOST * 2**20]


def test_a_large_body_is_not_read_to_its_end() -> None:
    read = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal read
        while True:
            read += 1
            yield b"x" * 2**20

    with pytest.raises(QuestionError):
        asyncio.run(uploads.body_of(endless(), MOST))
    assert read == MOST + 1


@pytest.mark.parametrize(
    "headers",
    [{"Origin": "http://evil.example"}, {"Sec-Fetch-Site": "cross-site"}, {"Host": "evil.example"}],
)
def test_another_site_uploads_nothing(client, kept, headers: dict[str, str]) -> None:
    assert client.post(uploads.PATH, content=b"x", headers=headers).status_code == 403
    assert client.get(uploads.PATH).status_code == 405
    assert kept == {}
