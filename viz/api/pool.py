"""Work for the API on a few threads, shared fairly between sessions."""

import asyncio
from collections import OrderedDict, deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

WORKERS = 2
PER_SESSION = 64  # jobs of one session that may wait
IN_ALL = 2048


class BusyError(RuntimeError):
    """Too many jobs are waiting."""


@dataclass(eq=False)
class _Job:
    work: Callable[[], Any]
    done: asyncio.Future[Any]


@dataclass(eq=False)
class FairPool:
    """Runs blocking work in threads; sessions take turns, however much each of them asks for.

    All methods belong to one event loop. A job whose caller is cancelled before it begins never
    runs; one that has begun runs to its end, and its result is dropped.

    Attributes:
        workers: threads.
        per_session: jobs of one session that may wait.
        in_all: jobs of all sessions that may wait.
        prepare: called in each thread before its first job.
    """

    workers: int = WORKERS
    per_session: int = PER_SESSION
    in_all: int = IN_ALL
    prepare: Callable[[], None] | None = None
    _waiting: "OrderedDict[str, deque[_Job]]" = field(default_factory=OrderedDict)
    _running: int = 0
    _threads: ThreadPoolExecutor | None = None

    async def run(self, session: str, work: Callable[[], Any]) -> Any:
        """The result of `work`.

        Raises:
            BusyError: as many jobs wait as may, of this session or of all.
        """
        queue = self._waiting.get(session, ())
        waiting = sum(map(len, self._waiting.values()))
        if len(queue) >= self.per_session or waiting >= self.in_all:
            raise BusyError(session)
        job = _Job(work, asyncio.get_running_loop().create_future())
        self._waiting.setdefault(session, deque()).append(job)
        self._start()
        try:
            return await job.done
        except asyncio.CancelledError:
            self._withdraw(session, job)
            raise

    def _withdraw(self, session: str, job: _Job) -> None:
        """Takes a job back that has not begun."""
        queue = self._waiting.get(session)
        if queue is not None and job in queue:
            queue.remove(job)
            if not queue:
                del self._waiting[session]

    def _start(self) -> None:
        """Starts waiting jobs while there are free workers, one session after the other."""
        while self._running < self.workers and self._waiting:
            session, queue = self._waiting.popitem(last=False)
            job = queue.popleft()
            if queue:
                self._waiting[session] = queue  # at the end: the others come first
            if not job.done.cancelled():
                self._begin(job)

    def _begin(self, job: _Job) -> None:
        if self._threads is None:
            self._threads = ThreadPoolExecutor(self.workers, "api", self.prepare)
        self._running += 1
        ran = asyncio.get_running_loop().run_in_executor(self._threads, job.work)
        ran.add_done_callback(lambda ran: self._end(job, ran))

    def _end(self, job: _Job, ran: "asyncio.Future[Any]") -> None:
        self._running -= 1
        error = None if ran.cancelled() else ran.exception()
        if not job.done.done():
            if ran.cancelled():
                job.done.cancel()
            elif error is not None:
                job.done.set_exception(error)
            else:
                job.done.set_result(ran.result())
        self._start()
