"""Sessions take turns, what is no longer wanted never runs, and nobody can fill the queue."""

import asyncio
import gc
import threading
import weakref
from collections.abc import Awaitable, Callable
from typing import Any

from viz.api.pool import Pool, check, wait


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
