"""Sessions take turns; what is no longer wanted never runs, or runs no further pass."""

import asyncio
import gc
import threading
import weakref
from collections.abc import Awaitable, Callable, Iterator
from typing import Any
from urllib.parse import parse_qsl

import pytest

from models.request import Source, TraceRequest
from viz.api import pool, tracing
from viz.api.endpoint import work_of
from viz.api.entries import TraceEntry
from viz.api.pool import Pool, StoppedError, check, wait
from viz.api.registry import Held


class Blocked:
    """A pool of one worker that is kept busy until `go` is called."""

    def __init__(self) -> None:
        self.pool = Pool(workers=1)
        self.gate = threading.Event()
        self.ran: list[str] = []
        self.first = asyncio.ensure_future(self.pool.run("first", lambda: self.gate.wait(30)))

    def ask(self, session: str, name: str) -> "asyncio.Task[str]":
        def work() -> str:
            self.ran.append(name)
            return name

        return asyncio.ensure_future(self.pool.run(session, work))

    async def go(self, *asked: Awaitable[Any]) -> None:
        self.gate.set()
        await asyncio.gather(self.first, *asked, return_exceptions=True)


def run(test: Callable[[], Awaitable[None]]) -> None:
    asyncio.run(asyncio.wait_for(test(), 60))


def test_a_session_with_much_to_ask_does_not_hold_up_the_others() -> None:
    async def test() -> None:
        blocked = Blocked()
        asked = [blocked.ask("greedy", f"greedy {n}") for n in range(5)]
        asked += [blocked.ask(name, f"{name} {n}") for name in ("b", "c") for n in range(2)]
        await asyncio.sleep(0)
        await blocked.go(*asked)
        assert blocked.ran[:6] == ["greedy 0", "b 0", "c 0", "greedy 1", "b 1", "c 1"]
        assert len(blocked.ran) == 9

    run(test)


def test_what_is_cancelled_before_it_begins_never_runs() -> None:
    async def test() -> None:
        blocked = Blocked()
        gone, kept = blocked.ask("a", "gone"), blocked.ask("a", "kept")
        await asyncio.sleep(0)
        gone.cancel()
        await blocked.go(gone, kept)
        assert blocked.ran == ["kept"]

    run(test)


def test_long_work_ends_at_its_next_check() -> None:
    async def test() -> None:
        pool, began, ended = Pool(workers=1), threading.Event(), threading.Event()

        def work() -> None:
            began.set()
            try:
                while True:
                    check()
            finally:
                ended.set()

        job = asyncio.ensure_future(pool.run("a", work))
        await asyncio.to_thread(began.wait, 30)
        job.cancel()
        assert await asyncio.to_thread(ended.wait, 30)
        assert await pool.run("a", lambda: check() or "next") == "next"

    run(test)
    check()  # outside of a pool nothing stops


def test_an_idle_thread_keeps_nothing_of_its_last_job() -> None:
    async def test() -> None:
        pool = Pool(workers=1)
        held = threading.Event()
        alive = weakref.ref(held)
        await pool.run("a", lambda held=held: held.is_set())
        del held
        await asyncio.sleep(0)
        gc.collect()
        assert alive() is None

    run(test)


def test_a_job_that_waits_leaves_its_thread_to_others() -> None:
    async def test() -> None:
        pool, used = Pool(workers=1), threading.Lock()
        used.acquire()

        def work() -> str:
            wait(lambda seconds: used.acquire(timeout=seconds))
            return "after all"

        waiting = asyncio.ensure_future(pool.run("a", work))
        given_up = asyncio.ensure_future(pool.run("b", work))
        assert await pool.run("c", lambda: "at once") == "at once"
        assert not waiting.done()
        given_up.cancel()
        used.release()
        assert await waiting == "after all"
        assert given_up.cancelled()

    run(test)


PASSES = [  # questions for whose answers the model runs more than once
    "faithfulness?method=chefer",
    "matters?site=0&top=3",
    "patched?second=a b c d a b d&top=3",
    "written?count=5",
    "blame",
    "ranks?output=0.2&lens=jacobian",
]


@pytest.fixture
def source() -> Source:
    return tracing.of_catalogue("induction")


@pytest.fixture
def held(source: Source) -> Iterator[Held[TraceEntry]]:
    found = tracing.entry_for(TraceRequest(source, "a b c d a b c"))
    yield found
    tracing.registry.evict(found.id)


@pytest.mark.parametrize("path", PASSES)
def test_no_pass_begins_once_a_request_is_stopped(
    source: Source, held: Held[TraceEntry], path: str
) -> None:
    name, _, query = path.partition("?")
    _, work = work_of(held.value, name, parse_qsl(query))
    passes: list[Any] = []

    async def test() -> None:
        request = asyncio.ensure_future(Pool(workers=1).run("visitor", work))

        def leave(*_: Any) -> None:
            job = pool._current.get()
            assert job is not None
            job.stopped = True
            passes.append(job)

        hook = tracing.opened(source).network.register_forward_pre_hook(leave)
        with pytest.raises(StoppedError):
            await request
        hook.remove()

    asyncio.run(asyncio.wait_for(test(), 60))
    assert len(passes) == 1
