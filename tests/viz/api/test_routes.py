"""Every route from outside: who may ask, what is refused, and what the heads of answers say."""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest
import torch
from starlette.applications import Starlette
from starlette.testclient import TestClient

from models.encoder import EncoderConfig
from models.run import load, trace
from viz.api import registry
from viz.api.endpoint import QuestionError, parse_query
from viz.api.entries import TraceEntry
from viz.api.pool import issued, report
from viz.routes import ENDPOINTS, routes
from viz.values import HEAD, NUMBER, SPAN

TOKENS, HEADS, SITES = 11, 3, 2
GOOD = {
    "model": "site=0&head=mean&method=rollout",
    "model_row": "site=0&head=mean&method=flow&index=2",
    "outputs": "site=0&direction=out&token=2&output=2.7",
    "relevance": "method=chefer&output=2.7",
    "faithfulness": "method=chefer",
    "refused": "",
    "lens": "first=4",
    "ranks": "output=2.7&lens=jacobian",
    "parts": "output=2.7&versus=2.5",
    "blame": "output=2.7",
    "overview": "",
    "thumbs": "site=1",
    "map": "site=1&head=2",
    "vector": "",
    "numbers": "",
    "split": "site=1&head=1&query=4&key=2",
    "row": "site=1&head=mean&axis=query&index=10",
    "inside": "site=0&head=1&query=4",
    "corpora": "site=0&head=1",
    "export": "site=1&head=2&form=matrix&format=csv",
    "python": "site=1&head=max&form=lines&scale=own&shown=0.2&token=3",
    "predictions": "site=0&direction=out&token=3",
    "words": "method=found",
    "spectrogram": "",
    "answer": "",
    "objects": "",
    "points": "site=0&head=mean&query=2",
    "shares": "site=0&first=2&last=3",
    "ranked": "first=2&last=3",
    "need": "area=0.0.0.500.500&first=2&last=3",
    "versus": "row=2&rival=cat",
    "readers": "site=0&head=1&area=0.0.0.500.500",
    "captions": "texts=a|b",
    "written": "count=3",
    "cache": "first=2",
    "matters": "site=0&top=2",
    "patched": "second=a&top=2",
    "worth": "",
    "card": "at=h:0:1",
    "cell": "at=h:0:1&matrix=scores&row=1&col=0",
    "lines": "at=m:blocks.0",
    "follow": "token=1",
}
# Refused for a text alone, or of a model with a source; test_sound.py, test_pictured.py,
# test_beside.py and test_about.py ask them.
OF_OTHERS = {"changed", "recording", "times", "photo", "aligned", "likeness", "about", "check"}


def entry_of() -> TraceEntry:
    model = load(EncoderConfig(vocab=53, dim=21, heads=HEADS, depth=SITES, mlp=13, max_tokens=31))
    ids = torch.randint(53, (1, TOKENS), generator=torch.Generator().manual_seed(5))
    found = trace(model, ids)
    return TraceEntry(found)


@pytest.fixture(scope="module")
def entry() -> TraceEntry:
    return entry_of()


@pytest.fixture
def path(entry: TraceEntry) -> str:
    held = registry.once(("routes", id(entry)), lambda: entry)
    return f"/api/trace/{held.id}"


def test_every_question_about_a_text_is_tried_here() -> None:
    assert set(GOOD) | OF_OTHERS == {name for kind, name in ENDPOINTS if kind == "text"}


@pytest.mark.parametrize("name", GOOD)
def test_an_answer_is_cached_for_good_and_by_this_browser_alone(
    client: TestClient, path: str, name: str
) -> None:
    answer = client.get(f"{path}/{name}?{GOOD[name]}")
    assert answer.status_code == 200
    assert answer.headers["cache-control"] == "private, max-age=31536000, immutable"
    binary = name in ("overview", "thumbs", "map", "row", "inside", "card")
    kind = "application/octet-stream" if binary else "application/json"
    kind = "text/csv; charset=utf-8" if name == "export" else kind
    assert answer.headers["content-type"] == kind
    assert int(answer.headers["content-length"]) == len(answer.content) > 0
    assert "access-control-allow-origin" not in answer.headers


def test_a_request_waits_for_a_result_that_is_being_computed(
    client: TestClient, entry: TraceEntry
) -> None:
    key = ("routes", "waiting", id(entry))
    with ThreadPoolExecutor(1) as thread, registry.expecting(key) as expected:
        asked = thread.submit(client.get, f"/api/trace/{expected.id}/overview")
        with pytest.raises(TimeoutError):
            asked.result(0.2)
        told = client.get(f"/api/trace/{expected.id}/progress?of=overview")
        assert (told.status_code, told.json()) == (200, {})
        registry.once(key, lambda: entry)
        assert asked.result(30).status_code == 200


def test_a_computation_that_fails_is_told_to_those_who_wait(client: TestClient) -> None:
    with ThreadPoolExecutor(1) as thread:
        with registry.expecting(("routes", "failing")) as expected:
            asked = thread.submit(client.get, f"/api/trace/{expected.id}/overview")
            with pytest.raises(TimeoutError):
                asked.result(0.2)
        answer = asked.result(30)
    # no error: a browser would report one in its console although nothing is wrong with the request
    assert (answer.status_code, answer.content) == (204, b"")
    assert answer.headers["cache-control"] == "no-store"


def is_refusal(answer: Any, status: int) -> str:
    """Checks that an answer is one plain line, which no cache keeps; returns the line."""
    assert answer.status_code == status
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    assert answer.text
    assert "\n" not in answer.text
    return answer.text


@pytest.mark.parametrize(
    "question",
    [
        *("map", "map?site=0", "map?site=2&head=0", "map?site=0&head=3"),
        *("map?site=0&head=0&rows=0-12", "map?site=0&head=0&columns=11-12"),
        *("inside?site=0&head=mean&query=1", "inside?site=0&head=0&query=11&key=0"),
        *("split?site=0&head=0&query=1", "inside?site=0&head=0&key=11", "inside?site=9&head=0"),
        *("map?site=0&head=0&values=all",),
        *("map?site=0&head=0&sinks=gone", "row?site=0&head=0&axis=key&index=0&values=log"),
        *("row?site=0&head=0&axis=query", "row?site=0&head=0&axis=side&index=0"),
        *("row?site=0&head=0&axis=query&index=11", "overview?site=0"),
        *(
            "python?site=9&head=0&form=matrix",
            "python?site=0&head=3&form=matrix",
            "predictions?site=0&direction=up",
        ),
        *("predictions?site=9&direction=in", "predictions?site=0&direction=out&token=11"),
    ],
)
def test_a_question_that_makes_no_sense_is_told_what_was_expected(
    client: TestClient, path: str, question: str
) -> None:
    line = is_refusal(client.get(f"{path}/{question}"), 400)
    assert "expected" in line
    assert len(line) < 160


def test_a_result_that_is_not_held_is_gone(client: TestClient) -> None:
    is_refusal(client.get("/api/trace/AAAAAAAAAAAAAAAAAAAAAAAA/overview"), 410)
    held = registry.once(("routes", "evicted"), entry_of)
    is_refusal(client.get(f"/api/trace/{held.id}/nothing"), 404)
    assert client.get(f"/api/trace/{held.id}/overview").status_code == 200
    registry.evict(held.id)
    is_refusal(client.get(f"/api/trace/{held.id}/overview"), 410)


Planted = Callable[[Callable[[], Any]], str]


@pytest.fixture
def held_with(monkeypatch: pytest.MonkeyPatch) -> Planted:
    """Makes the path of a result whose code is what a function returns."""

    def held(answer: Callable[[], Any]) -> str:
        planted = replace(ENDPOINTS["text", "python"], function=lambda *_, **__: answer())
        monkeypatch.setitem(ENDPOINTS, ("text", "python"), planted)
        entry = entry_of()
        return f"/api/trace/{registry.once(entry, lambda: entry).id}"

    return held


def test_a_failure_is_one_line_without_what_went_wrong_inside(
    client: TestClient, caplog: pytest.LogCaptureFixture, held_with: Planted
) -> None:
    def fail() -> str:
        raise RuntimeError("secret\npath /somewhere")

    line = is_refusal(client.get(f"{held_with(fail)}/python?site=0&head=0&form=matrix"), 500)
    assert "secret" not in line
    assert "secret" in caplog.text  # the server's own log has it


def test_what_cannot_be_computed_says_why(client: TestClient, held_with: Planted) -> None:
    def refuse() -> str:
        raise ValueError("expected at most 256 MiB,\nreceived more")

    line = is_refusal(client.get(f"{held_with(refuse)}/python?site=0&head=0&form=matrix"), 500)
    assert line == "expected at most 256 MiB, received more"


SESSION = issued()


def request_of(path: str, query: str, session: str = SESSION) -> dict[str, Any]:
    return {
        "type": "http",
        "method": "GET",
        "path": path,
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "headers": [(b"host", b"localhost"), (b"x-headscope-session", session.encode())],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 8501),
        "scheme": "http",
        "root_path": "",
    }


class Call:
    """One request to the app, as a server makes it."""

    def __init__(self, app: Any, path: str, query: str, session: str = SESSION) -> None:
        self.disconnected = asyncio.Event()
        self.sent: list[dict[str, Any]] = []
        scope = request_of(path, query, session)
        self.task = asyncio.ensure_future(app(scope, self.receive, self.send))

    async def receive(self) -> dict[str, Any]:
        await self.disconnected.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: dict[str, Any]) -> None:
        self.sent.append(message)

    @property
    def status(self) -> int:
        return self.sent[0]["status"]


def test_a_browser_that_went_away_costs_nothing_more(held_with: Planted) -> None:
    """Its waiting questions never run; the one that runs is answered to nobody."""
    gate, ran = threading.Event(), []

    def slow() -> str:
        ran.append(1)
        gate.wait(30)
        return ""

    async def test() -> None:
        app = Starlette(routes=routes())
        path = f"{held_with(slow)}/python"
        calls = [Call(app, path, f"site=0&head={n % HEADS}&form=matrix") for n in range(20)]
        while len(ran) < 2:
            await asyncio.sleep(0.001)
        for call in calls:
            call.disconnected.set()
        await asyncio.gather(*(call.task for call in calls))
        gate.set()
        assert {call.status for call in calls} == {499}
        await asyncio.sleep(0.05)
        assert len(ran) == 2  # the two workers' first

    asyncio.run(asyncio.wait_for(test(), 60))


def test_a_running_question_tells_how_far_it_is(held_with: Planted) -> None:
    gate, halfway = threading.Event(), threading.Event()

    def slow() -> str:
        report(3, 7)
        halfway.set()
        gate.wait(30)
        return ""

    async def test() -> None:
        app = Starlette(routes=routes())
        path = held_with(slow)
        call = Call(app, f"{path}/python", "site=0&head=1&form=matrix")
        await asyncio.to_thread(halfway.wait, 30)
        told = [
            Call(app, f"{path}/progress", f"of=python%3Fsite%3D0%26head%3D{head}%26form%3Dmatrix")
            for head in (1, 2)
        ]
        await asyncio.gather(*(each.task for each in told))
        gate.set()
        await call.task
        assert [each.sent[1]["body"] for each in told] == [b'{"done":3,"total":7}', b"{}"]

    asyncio.run(asyncio.wait_for(test(), 60))


def test_answers_are_computed_on_one_thread(client: TestClient, held_with: Planted) -> None:
    path = held_with(lambda: str(torch.get_num_threads()))
    before = torch.get_num_threads()
    try:
        assert client.get(f"{path}/python?site=0&head=0&form=matrix").json() == "1"
    finally:
        torch.set_num_threads(before)


KINDS = {"site": NUMBER, "head": HEAD, "rows": SPAN}


def test_a_good_query_is_read() -> None:
    pairs = [("head", "max"), ("site", "007"), ("rows", "3-11")]
    assert parse_query(pairs, KINDS, {"rows"}) == {
        "head": "max",
        "site": 7,
        "rows": range(3, 11),
    }


@pytest.mark.parametrize(
    ("pairs", "expected"),
    [
        ([("site", "1")], "the parameter head"),
        ([("site", "1"), ("head", "1"), ("site", "2")], "site once"),
        ([("site", "1"), ("head", "1"), ("colour", "red")], "the parameters site, head, rows"),
        ([("site", "-1"), ("head", "1")], "a whole number"),
        ([("site", "1.5"), ("head", "1")], "a whole number"),
        ([("site", ""), ("head", "1")], "a whole number"),
        ([("site", "٣"), ("head", "1")], "a whole number"),
        ([("site", "1\n"), ("head", "1")], "a whole number"),
        ([("site", "1" * 10), ("head", "1")], "a whole number"),
        ([("site", "1" * 65), ("head", "1")], "at most 64 characters"),
        ([("site", "1"), ("head", "median")], "mean or max"),
        ([("site", "1"), ("head", "1"), ("rows", "5")], "positions such as 0-512"),
        ([("site", "1"), ("head", "1"), ("rows", "5-5")], "positions such as 0-512"),
        ([("site", "1"), ("head", "1"), ("rows", "9-5")], "positions such as 0-512"),
        ([("x" * 1025, "1")], "at most 1024 characters"),
    ],
)
def test_a_bad_query_is_told_what_was_expected(pairs: list[tuple[str, str]], expected: str) -> None:
    with pytest.raises(QuestionError, match="expected") as refused:
        parse_query(pairs, KINDS, {"rows"})
    assert expected in str(refused.value)
    assert len(str(refused.value)) < 120
