"""The routes of rooms from outside: who may ask, what is refused, what is told and when."""

import asyncio
import json
from collections.abc import AsyncIterator, Generator
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from viz.api import qr, room_routes
from viz.api.room import Room, Rooms, Screen

HOSTS = ["localhost", "127.0.0.1", "192.0.2.7", "desk"]
SHOWN = {"page": "scale", "step": 1, "steps": 5}
ASKED = {"text": "Why?", "choices": ["yes", "no"]}


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch) -> Generator[TestClient, None, None]:
    monkeypatch.setenv("ROOM", "1")
    app = Starlette(routes=room_routes.routes(lambda: HOSTS, {"scale", "heads"}))
    with TestClient(app, base_url="http://127.0.0.1:8501") as found:
        yield found


@pytest.fixture
def opened(client: TestClient) -> dict[str, str]:
    answer = client.post("/api/room", json=SHOWN)
    assert answer.status_code == 200
    assert answer.headers["cache-control"] == "no-store"
    return answer.json()


@pytest.mark.parametrize("value", [None, "", "0"])
def test_without_room_in_the_environment_there_are_no_rooms(
    monkeypatch: pytest.MonkeyPatch, value: str | None
) -> None:
    if value is None:
        monkeypatch.delenv("ROOM", raising=False)
    else:
        monkeypatch.setenv("ROOM", value)
    app = Starlette(routes=room_routes.routes(lambda: HOSTS, {"scale"}))
    client = TestClient(app, base_url="http://127.0.0.1:8501")
    assert client.post("/api/room", json=SHOWN).status_code == 404
    assert client.post("/api/room/aaaaaaaa/join", json={}).status_code == 404
    assert client.get("/api/room/aaaaaaaa/events?member=x").status_code == 404


def test_a_lesson_goes_through_its_course(client: TestClient, opened: dict[str, str]) -> None:
    path, key = f"/api/room/{opened['code']}", {"key": opened["key"]}
    member = client.post(f"{path}/join", json={}).json()["member"]
    for change, message in (
        ("show", {**key, "page": "heads", "step": 0, "steps": 0}),
        ("show", {**key, **SHOWN, "figure": "query=Mike", "elsewhere": True}),
        ("ask", {**key, **ASKED}),
        ("answer", {"member": member, "question": 1, "choice": 1}),
        ("reveal", key),
        ("dismiss", key),
        ("end", key),
    ):
        answer = client.post(f"{path}/{change}", json=message)
        assert (answer.status_code, answer.json()) == (200, {}), change
    assert client.post(f"{path}/join", json={}).status_code == 404


def test_the_code_of_the_link_is_a_picture(client: TestClient, opened: dict[str, str]) -> None:
    code = opened["code"]
    link = f"http://desk:8501/scale?room={code}"
    answer = client.get(f"/api/room/{code}/qr", params={"link": link})
    assert (answer.status_code, answer.headers["content-type"]) == (200, "image/svg+xml")
    assert answer.content == qr.svg(link, code)
    assert client.get(f"/api/room/{code}/qr", params={"link": "http://a"}).status_code == 400
    assert client.get("/api/room/aaaaaaaa/qr", params={"link": link}).status_code == 404


@pytest.mark.parametrize(
    "headers",
    [
        {"host": "evil.example"},
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"sec-fetch-site": "cross-site"},
    ],
)
def test_a_foreign_page_gets_nothing(
    client: TestClient, opened: dict[str, str], headers: dict[str, str]
) -> None:
    path, key = f"/api/room/{opened['code']}", {"key": opened["key"]}
    assert client.post("/api/room", json=SHOWN, headers=headers).status_code == 403
    assert client.post(f"{path}/end", json=key, headers=headers).status_code == 403
    assert client.get(f"{path}/events?member=x", headers=headers).status_code == 403
    assert client.post(f"{path}/join", json={}).status_code == 200


def test_the_wrong_key_and_an_unknown_room(client: TestClient, opened: dict[str, str]) -> None:
    path = f"/api/room/{opened['code']}"
    wrong = client.post(f"{path}/show", json={"key": "wrong", **SHOWN})
    assert (wrong.status_code, wrong.text) == (403, "this key does not open the room")
    for unknown in ("/api/room/aaaaaaaa/join", f"{path}/explode"):
        assert client.post(unknown, json={}).status_code == 404
    assert client.get(f"{path}/events?member=stranger").status_code == 404
    assert client.get(f"{path}/events?member=" + "x" * 100).status_code == 400
    assert client.get(f"{path}/join").status_code == 405


@pytest.mark.parametrize(
    "message",
    [
        *({**SHOWN, "page": page} for page in ("text", "../scale", "", 3, None, ["scale"])),
        *({**SHOWN, "step": step} for step in (-1, 5, 1.0, "1", True, 10**9, None)),
        *({**SHOWN, "steps": steps} for steps in (1, -1, 101, "5")),
        *({**SHOWN, "figure": figure} for figure in (3, None, "x" * 1501)),
        *({**SHOWN, "elsewhere": elsewhere} for elsewhere in (1, "no", None)),
        {"page": "scale", "step": 0},
        {**SHOWN, "key": "x"},
        {**SHOWN, "extra": "x" * 9000},
        [SHOWN],
        "scale",
    ],
)
def test_a_room_opens_at_a_step_of_a_lesson(client: TestClient, message: Any) -> None:
    answer = client.post("/api/room", json=message)
    assert answer.status_code == 400
    assert "expected" in answer.text


@pytest.mark.parametrize("body", [b"", b"{", b"\xff", b"[" * 4000, b"NaN"])
def test_what_is_no_message_is_refused(client: TestClient, body: bytes) -> None:
    assert client.post("/api/room", content=body).status_code == 400


@pytest.mark.parametrize(
    "change",
    [
        {"choices": []},
        {"choices": ["a"]},
        {"choices": list("abcdef")},
        {"choices": ["a", ""]},
        {"choices": ["a", "\n\t"]},
        {"choices": ["a", 1]},
        {"choices": ["a", "b" * 81]},
        {"choices": "ab"},
        {"text": "x" * 241},
        {"text": None},
    ],
)
def test_a_question_is_short_and_has_choices(
    client: TestClient, opened: dict[str, str], change: dict[str, Any]
) -> None:
    message = {"key": opened["key"], **ASKED, **change}
    assert client.post(f"/api/room/{opened['code']}/ask", json=message).status_code == 400


def test_texts_are_one_plain_line() -> None:
    read = room_routes.text(40)
    assert read("  a\nb\x00\x1b[31m <b>c</b>\u202e ") == "a b[31m <b>c</b>"


def test_too_much_at_once_is_told_so(client: TestClient) -> None:
    statuses = [client.post("/api/room", json=SHOWN).status_code for _ in range(30)]
    assert statuses[:10] == [200] * 10
    assert 429 in statuses


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ("127.0.0.1:8501", "192.0.2.7:8501"),
        ("localhost", "192.0.2.7"),
        ("desk:8501", "desk:8501"),
        ("192.0.2.7:80", "192.0.2.7:80"),
    ],
)
def test_the_link_names_a_host_that_others_reach(asked: str, expected: str) -> None:
    assert room_routes.shared_host(asked, HOSTS) == expected
    assert room_routes.shared_host(asked, ["localhost", "127.0.0.1", "*.example"]) == asked


# --- events ---------------------------------------------------------------------------------------


async def next_news(stream: AsyncIterator[bytes]) -> dict[str, Any]:
    event = await asyncio.wait_for(anext(stream), 20)
    assert event.startswith(b"data: ")
    assert event.endswith(b"\n\n")
    return json.loads(event[6:])


def test_changes_are_told_and_only_to_whom_they_concern() -> None:
    async def test() -> None:
        opened = Rooms().open(Screen("scale", 1, 5))
        follower, presenter = opened.join(), opened.join(opened.key)
        following = room_routes.events(opened, follower)
        presenting = room_routes.events(opened, presenter)
        assert (await next_news(presenting))["followers"] == 0
        assert (await next_news(following))["step"] == 1
        assert (await next_news(presenting))["followers"] == 1
        opened.show(opened.key, Screen("scale", 2, 5))
        opened.show(opened.key, Screen("scale", 3, 5))
        assert (await next_news(following))["step"] == 3  # the latest, not all
        opened.ask(opened.key, "<i>now</i>\n", ("a", "b"))
        assert (await next_news(following))["question"]["text"] == "<i>now</i>\n"
        other = opened.join()
        opened.answer(other, 1, 1)
        waiting = asyncio.ensure_future(anext(following))
        await asyncio.sleep(0.02)
        assert not waiting.done()  # another one's answer is nobody's business yet
        opened.reveal(opened.key)
        assert json.loads((await waiting)[6:])["question"]["counts"] == [0, 1]
        await following.aclose()  # type: ignore[attr-defined]
        assert opened.followers() == 0
        opened.end(opened.key)
        left = [event async for event in presenting]
        assert left[-1] == b"event: end\ndata: {}\n\n"

    asyncio.run(asyncio.wait_for(test(), 60))


def test_silence_is_broken_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room_routes, "HEARTBEAT_SECONDS", 0.01)

    async def test() -> None:
        opened: Room = Rooms().open(Screen("scale", 1, 5))
        stream = room_routes.events(opened, opened.join())
        await anext(stream)
        assert (await anext(stream)).startswith(b":")

    asyncio.run(asyncio.wait_for(test(), 20))
