"""Work for the API on a few threads, shared fairly between sessions."""

import asyncio
from collections import OrderedDict, deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

WORKERS = 2
PER_SESSION = 64  # jobs of one session that may wait


class BusyError(RuntimeError):
    """A session has too many jobs waiting."""


@dataclass(eq=False)
class _Job:
    work: Callable[[], Any]
    done: asyncio.Future[Any]


@dataclass(eq=False)
class FairPool:
    """Runs blocking work in threads; sessions take turns, however much each of them asks for.

    All methods belong to one event loop. A job whose caller is cancelled before it begins never
    runs; one that has begun runs to its end, and its result is dropped.
    """

    workers: int = WORKERS
    per_session: int = PER_SESSION
    _waiting: "OrderedDict[str, deque[_Job]]" = field(default_factory=OrderedDict)
    _running: int = 0
    _threads: ThreadPoolExecutor | None = None

    async def run(self, session: str, work: Callable[[], Any]) -> Any:
        """The result of `work`.

        Raises:
            BusyError: the session has `per_session` jobs waiting.
        """
        queue = self._waiting.setdefault(session, deque())
        if len(queue) >= self.per_session:
            raise BusyError(session)
        job = _Job(work, asyncio.get_running_loop().create_future())
        queue.append(job)
        self._start()
        try:
            return await job.done
        finally:
            if not job.done.done():
                job.done.cancel()

    def _start(self) -> None:
        """Starts waiting jobs while there are free workers, one session after the other."""
        while self._running < self.workers and self._waiting:
            session, queue = self._waiting.popitem(last=False)
            job = queue.popleft() if queue else None
            if queue:
                self._waiting[session] = queue  # at the end: the others come first
            if job is not None and not job.done.cancelled():
                self._begin(job)

    def _begin(self, job: _Job) -> None:
        if self._threads is None:
            self._threads = ThreadPoolExecutor(self.workers, thread_name_prefix="api")
        self._running += 1
        loop = asyncio.get_running_loop()
        loop.run_in_executor(self._threads, job.work).add_done_callback(
            lambda ran: self._end(job, ran)
        )

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
