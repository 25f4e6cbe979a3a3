"""Threads of the API: visitors take turns, and what nobody waits for any more is stopped."""

import asyncio
import hashlib
import hmac
import secrets
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

if TYPE_CHECKING:
    from starlette.requests import Request

HEADER = "x-headscope-session"  # of requests, with the id of a visitor
WORKERS = 2
AGAIN = 0.05  # seconds between two attempts to get what is in use
_SECRET = secrets.token_bytes(32)


class StoppedError(RuntimeError):
    """Nobody waits for the result of this job any more."""


class LaterError(RuntimeError):
    """The job needs something that is in use: it is run again in a moment."""


# ---- who asks: ids that this server gives its visitors, signed so that nobody makes one up


def issued() -> str:
    """The id of a new visitor."""
    name = secrets.token_urlsafe(9)
    return f"{name}.{_signature(name)}"


def visitor_of(request: "Request") -> str:
    """Who sent a request: an id of this server, else the address of the connection."""
    id = request.headers.get(HEADER, "")
    name, _, signature = id.partition(".")
    if hmac.compare_digest(signature.encode(), _signature(name).encode()):
        return id
    return request.client.host if request.client else ""


def _signature(name: str) -> str:
    return hmac.new(_SECRET, name.encode(), hashlib.sha256).hexdigest()


# ---- turns


class Turns:
    """Lets each visitor do a few things at a time, and all together some more; others wait.

    Who has waited longest is next. A visitor has no more than `each` things in that queue, so that
    nobody waits for everything that another has asked for.

    Args:
        each: how many things of one visitor go on at a time.
        in_all: of all visitors.
    """

    def __init__(self, each: int, in_all: int) -> None:
        self._each, self._all = each, asyncio.Semaphore(in_all)
        self._of: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()

    @asynccontextmanager
    async def of(self, visitor: str) -> AsyncIterator[None]:
        """Waits for a turn of a visitor, which lasts until the context ends."""
        async with self._of.setdefault(visitor, asyncio.Semaphore(self._each)), self._all:
            yield


# ---- what a job calls

_current: ContextVar["_Job | None"] = ContextVar("headscope_job", default=None)


def check() -> None:
    """Raises StoppedError in a job whose caller was cancelled; long work calls it now and then."""
    job = _current.get()
    if job is not None and job.stopped:
        raise StoppedError


def report(done: int, total: int) -> None:
    """`check`, and notes how much of the job is done."""
    check()
    job = _current.get()
    if job is not None:
        job.share = done, total


def wait(ready: Callable[[float], bool], meanwhile: Callable[[], None] = lambda: None) -> None:
    """Waits for something that is in use, without holding up other jobs.

    Args:
        ready: waits for it for so many seconds, and returns whether it was there.
        meanwhile: called between two attempts; an exception of it ends the wait.

    Raises:
        LaterError: in a job, whose thread does not wait: the pool runs the job again.
    """
    if _current.get() is not None:
        check()
        if not ready(0):
            raise LaterError
        return
    while not ready(AGAIN):
        meanwhile()


# ---- the pool


@dataclass(eq=False)
class _Job:
    work: Callable[[], Any]
    name: str
    stopped: bool = False
    share: tuple[int, int] | None = None

    def __call__(self) -> Any:
        token = _current.set(self)
        try:
            return self.work()
        finally:
            _current.reset(token)  # the thread keeps its context, and would keep the job


class Pool:
    """Runs blocking work in threads.

    A job whose caller is cancelled before it starts never runs; one that has started ends at its
    next `check`, and its result is dropped. A job that needs something in use (`wait`) leaves its
    thread to others, and is run again from its beginning.

    Args:
        workers: number of threads.
        prepare: called in each thread before its first job.
    """

    def __init__(self, workers: int = WORKERS, prepare: Callable[[], None] = lambda: None) -> None:
        self._turns = Turns(workers, workers)
        self._threads = ThreadPoolExecutor(workers, "api", prepare)
        self._running: set[_Job] = set()

    def share(self, name: str) -> tuple[int, int] | None:
        """How much of a running job is done, and of how much; None if it has not said."""
        return next((job.share for job in self._running if job.name == name), None)

    async def run(self, visitor: str, work: Callable[[], Any], name: str = "") -> Any:
        """The result of `work`.

        Args:
            visitor: who asks.
            work: runs in a thread.
            name: of the job, for `share`.
        """
        job = _Job(work, name)
        try:
            while True:
                try:
                    async with self._turns.of(visitor):
                        self._running.add(job)
                        loop = asyncio.get_running_loop()
                        return await loop.run_in_executor(self._threads, job)
                except LaterError:
                    await asyncio.sleep(AGAIN)
        finally:
            job.stopped = True
            self._running.discard(job)
