"""Who asks: ids that this server gives its visitors, signed so that nobody can make one up."""

import asyncio
import hashlib
import hmac
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from viz.api.pool import BusyError

if TYPE_CHECKING:
    from starlette.requests import Request

HEADER = "x-headscope-session"
_SECRET = secrets.token_bytes(32)


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


@dataclass(eq=False)
class _Queue:
    turns: asyncio.Semaphore
    count: int = 0


@dataclass(eq=False)
class Turns:
    """Lets each visitor do a few things at a time, and all together some more; others wait.

    Attributes:
        each: how many things of one visitor go on at a time.
        in_all: of all visitors.
        waiting: things of one visitor that go on or wait, at most.
    """

    each: int
    in_all: int
    waiting: int
    _queues: dict[str, _Queue] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._all = asyncio.Semaphore(self.in_all)

    @asynccontextmanager
    async def of(self, visitor: str) -> AsyncIterator[None]:
        """Waits for a turn of a visitor, which lasts until the context ends.

        Raises:
            BusyError: too many of this visitor are waiting.
        """
        queue = self._queues.setdefault(visitor, _Queue(asyncio.Semaphore(self.each)))
        if queue.count >= self.waiting:
            raise BusyError(visitor)
        queue.count += 1
        try:
            async with queue.turns, self._all:
                yield
        finally:
            queue.count -= 1
            if not queue.count:
                del self._queues[visitor]
