"""Results held for the views, under unguessable ids."""

import base64
import hashlib
import hmac
import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from concurrent.futures import CancelledError, Future
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Generic, TypeVar

T = TypeVar("T")

MAX_BYTES = 2 << 30
MAX_ENTRIES = 256
REMEMBERED = 4096  # ids of evicted entries, which answer "gone" rather than "unknown"


class Requests:
    """The requests for one result, counted."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._pending = 0
        self.count = 0

    @contextmanager
    def counted(self) -> Iterator[None]:
        """Counts one request, which is pending meanwhile."""
        self._add(1, 1)
        try:
            yield
        finally:
            self._add(0, -1)

    def answered(self, before: int, seconds: float) -> bool:
        """Waits for a request beyond the first `before`, and until none is pending.

        Returns:
            False if that took longer than so many seconds.
        """
        with self._changed:
            return self._changed.wait_for(
                lambda: self.count > before and not self._pending, seconds
            )

    def _add(self, count: int, pending: int) -> None:
        with self._changed:
            self.count += count
            self._pending += pending
            self._changed.notify_all()


@dataclass(frozen=True, eq=False)
class Held(Generic[T]):
    """One result.

    Attributes:
        id: its id in the API: a keyed hash of its inputs.
        serial: number of the computation; a result computed again after eviction keeps its id and
            gets a new serial.
        value: the result.
        bytes: approximate memory use.
        parent: the result it was computed from and refers to; it never outlives its parent.
        requests: for it.
    """

    id: str
    serial: int
    value: T
    bytes: int
    parent: "Held | None" = None
    requests: Requests = field(default_factory=Requests)


@dataclass(eq=False)
class Expected:
    """A result that is being computed.

    Attributes:
        id: of the result.
        serial: of the result.
        requests: for the result.
        settled: True once the result is held, False once its computation has ended without one.
        runs: how many compute it or wait for it.
    """

    id: str
    serial: int
    requests: Requests = field(default_factory=Requests)
    settled: Future[bool] = field(default_factory=Future)
    runs: int = 0


class UnknownError(LookupError):
    """No result was ever held under this id."""


class GoneError(LookupError):
    """The result was evicted."""


class Registry:
    """A bounded store of results; the least recently used one is evicted first.

    Ids are keyed with a secret of the process: equal inputs share one result, and nobody can
    compute the id of somebody else's text.
    """

    def __init__(self, max_bytes: int = MAX_BYTES, max_entries: int = MAX_ENTRIES) -> None:
        self._secret = secrets.token_bytes(32)
        self._limits = max_bytes, max_entries
        self._lock = threading.Lock()
        self._held: OrderedDict[str, Held] = OrderedDict()
        self._bytes = 0
        self._evicted: OrderedDict[str, None] = OrderedDict()
        self._computing: dict[str, Future[Held]] = {}
        self._expected: dict[str, Expected] = {}
        self._serial = 0

    def once(
        self,
        key: Hashable,
        make: Callable[[], T],
        size: Callable[[T], int] = lambda value: 0,
        parent: Held | None = None,
    ) -> Held[T]:
        """The result for this key, computed if necessary; concurrent callers wait for it.

        Args:
            key: everything the result depends on; its `repr` is hashed.
            make: computes the result. Its exception is raised in every waiting caller.
            size: bytes of the result, excluding its parent.
            parent: the result that `make` uses and its value refers to.
        """
        id = self.id_of(key)
        while True:
            with self._lock:
                found = self._find(id)
                if found is not None and found.parent is parent:
                    return found
                computing = self._computing.get(id)
                if computing is None:
                    mine = self._computing[id] = Future()
                    break
            try:
                return computing.result()
            except CancelledError:
                continue  # the computing thread was interrupted: compute it here
        try:
            value = make()
            found = self._keep(id, value, size(value), parent)
            mine.set_result(found)
            return found
        except Exception as error:
            mine.set_exception(error)
            raise
        finally:
            with self._lock:
                del self._computing[id]
            mine.cancel()  # no effect unless interrupted

    @contextmanager
    def expecting(self, key: Hashable) -> Iterator[Held | Expected]:
        """The result for this key, which `once` computes inside: it can be requested already."""
        id = self.id_of(key)
        with self._lock:
            found = self._find(id)
            if found is None:
                found = self._expected.get(id)
            if found is None:
                found = self._expected[id] = Expected(id, self._next_serial())
            if isinstance(found, Expected):
                found.runs += 1
        try:
            yield found
        finally:
            if isinstance(found, Expected):
                self._expect_no_more(found)

    def expected(self, id: str) -> Expected | None:
        """The result with this id, if it is not held but being computed."""
        with self._lock:
            return None if id in self._held else self._expected.get(id)

    def get(self, id: str) -> Held:
        """The result with this id.

        Raises:
            GoneError: it was evicted.
            UnknownError: there never was one.
        """
        with self._lock:
            found = self._find(id)
            if found is not None:
                return found
            raise GoneError(id) if id in self._evicted else UnknownError(id)

    def evict(self, id: str) -> None:
        """Drops a result and all results that refer to it; unknown ids are ignored."""
        with self._lock:
            self._drop(id)

    def id_of(self, key: Hashable) -> str:
        """The id of the result for a key."""
        digest = hmac.new(self._secret, repr(key).encode("utf-8", "replace"), hashlib.sha256)
        return base64.urlsafe_b64encode(digest.digest()[:18]).decode()

    def _find(self, id: str) -> Held | None:
        found = self._held.get(id)
        for each in reversed(_lineage(found)):
            if each.id in self._held:
                self._held.move_to_end(each.id)
        return found

    def _keep(self, id: str, value: T, size: int, parent: Held | None) -> Held[T]:
        max_bytes, max_entries = self._limits
        with self._lock:
            self._drop(id)
            if parent is not None and self._held.get(parent.id) is not parent:
                # the parent was evicted meanwhile, but is still referenced: count its bytes here
                size += parent.bytes
            expected = self._expected.pop(id, None)
            if expected is None:
                held = Held(id, self._next_serial(), value, size, parent)
            else:
                held = Held(id, expected.serial, value, size, parent, expected.requests)
            self._held[id] = held
            self._bytes += held.bytes
            self._evicted.pop(id, None)
            self._find(id)
            stay = {each.id for each in _lineage(held)}
            while self._bytes > max_bytes or len(self._held) > max_entries:
                oldest = next((id for id in self._held if id not in stay), None)
                if oldest is None:
                    break
                self._drop(oldest)
        if expected is not None:
            expected.settled.set_result(True)
        return held

    def _next_serial(self) -> int:
        self._serial += 1
        return self._serial

    def _expect_no_more(self, expected: Expected) -> None:
        with self._lock:
            expected.runs -= 1
            if expected.runs or self._expected.get(expected.id) is not expected:
                return
            del self._expected[expected.id]
        expected.settled.set_result(False)

    def _drop(self, id: str) -> None:
        dropped = self._held.pop(id, None)
        if dropped is None:
            return
        self._bytes -= dropped.bytes
        self._evicted[id] = None
        if len(self._evicted) > REMEMBERED:
            self._evicted.popitem(last=False)
        for child in [held.id for held in self._held.values() if held.parent is dropped]:
            self._drop(child)


def _lineage(held: Held | None) -> list[Held]:
    """A result, the one it was made from, and so on."""
    found = []
    while held is not None:
        found.append(held)
        held = held.parent
    return found


registry = Registry()
