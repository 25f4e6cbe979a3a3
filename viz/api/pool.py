"""A small thread pool for the API, scheduled fairly between sessions."""

import asyncio
from collections import OrderedDict, deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

WORKERS = 2
PER_SESSION = 64  # maximum number of queued jobs of one session
IN_ALL = 2048


class BusyError(RuntimeError):
    """Too many jobs are waiting."""


class StoppedError(RuntimeError):
    """Nobody waits for the result of this job any more."""


class LaterError(RuntimeError):
    """The job needs something that is in use: it is run again in a moment."""


AGAIN = 0.05  # seconds between two attempts to get what is in use
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


@dataclass(eq=False)
class _Job:
    work: Callable[[], Any]
    done: asyncio.Future[Any]
    session: str
    name: str = ""
    stopped: bool = False
    share: tuple[int, int] | None = None

    def __call__(self) -> Any:
        token = _current.set(self)
        try:
            return self.work()
        finally:
            _current.reset(token)  # the thread keeps its context, and would keep the job


@dataclass(eq=False)
class FairPool:
    """Runs blocking work in threads; sessions take turns, however many jobs each of them queues.

    All methods must run on one event loop. A job whose caller is cancelled before it starts never
    runs; one that has started ends at its next `check`, and its result is dropped. A job that needs
    something in use (`wait`) leaves its thread to others, and is run again from its beginning.

    Attributes:
        workers: number of threads.
        per_session: maximum number of queued jobs of one session.
        in_all: maximum number of queued jobs of all sessions.
        prepare: called in each thread before its first job.
    """

    workers: int = WORKERS
    per_session: int = PER_SESSION
    in_all: int = IN_ALL
    prepare: Callable[[], None] | None = None
    _waiting: "OrderedDict[str, deque[_Job]]" = field(default_factory=OrderedDict)
    _running: int = 0
    _begun: "set[_Job]" = field(default_factory=set)
    _threads: ThreadPoolExecutor | None = None

    def share(self, name: str) -> tuple[int, int] | None:
        """How much of a running job is done, and of how much; None if it has not said."""
        return next((job.share for job in self._begun if job.name == name), None)

    async def run(self, session: str, work: Callable[[], Any], name: str = "") -> Any:
        """The result of `work`.

        Args:
            session: who asks.
            work: runs in a thread.
            name: of the job, for `share`.

        Raises:
            BusyError: the queue of this session, or of all, is full.
        """
        queue = self._waiting.get(session, ())
        waiting = sum(map(len, self._waiting.values()))
        if len(queue) >= self.per_session or waiting >= self.in_all:
            raise BusyError(session)
        job = _Job(work, asyncio.get_running_loop().create_future(), session, name)
        self._queue(job)
        try:
            return await job.done
        except asyncio.CancelledError:
            self._withdraw(job)
            raise

    def _queue(self, job: _Job) -> None:
        if not job.done.done():
            self._waiting.setdefault(job.session, deque()).append(job)
            self._start()

    def _withdraw(self, job: _Job) -> None:
        """Removes a job that has not started, and stops one that has."""
        job.stopped = True
        queue = self._waiting.get(job.session)
        if queue is not None and job in queue:
            queue.remove(job)
            if not queue:
                del self._waiting[job.session]

    def _start(self) -> None:
        """Starts queued jobs while there are free workers, round-robin over sessions."""
        while self._running < self.workers and self._waiting:
            session, queue = self._waiting.popitem(last=False)
            job = queue.popleft()
            if queue:
                self._waiting[session] = queue  # at the end: round-robin
            if not job.done.cancelled():
                self._begin(job)

    def _begin(self, job: _Job) -> None:
        if self._threads is None:
            self._threads = ThreadPoolExecutor(self.workers, "api", self.prepare)
        self._running += 1
        self._begun.add(job)
        ran = asyncio.get_running_loop().run_in_executor(self._threads, job)
        ran.add_done_callback(lambda ran: self._end(job, ran))

    def _end(self, job: _Job, ran: "asyncio.Future[Any]") -> None:
        self._running -= 1
        self._begun.discard(job)
        error = None if ran.cancelled() else ran.exception()
        if isinstance(error, LaterError):
            asyncio.get_running_loop().call_later(AGAIN, self._queue, job)
        elif not job.done.done():
            if ran.cancelled():
                job.done.cancel()
            elif error is not None:
                job.done.set_exception(error)
            else:
                job.done.set_result(ran.result())
        self._start()
