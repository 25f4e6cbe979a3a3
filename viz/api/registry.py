"""Results held for the views, under unguessable ids."""

import base64
import hashlib
import hmac
import os
import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from concurrent.futures import CancelledError, Future
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Generic, TypeVar

from viz.api import memory, pool

T = TypeVar("T")

MAX_BYTES = int(os.environ.get("RESULTS_MB", "2048")) << 20  # of results, networks aside
MAX_NETWORK_BYTES = 3 << 29  # two models of half a gigabyte can be compared
OVERHEAD = 1 << 18  # bytes of a result that are not counted: objects of Python, labels
REMEMBERED = 4096  # ids of evicted entries, which answer "gone" rather than "unknown"


@dataclass(eq=False)
class Held(Generic[T]):
    """One result.

    Attributes:
        id: its id in the API: a keyed hash of its inputs.
        serial: number of the computation; a result computed again after eviction keeps its id and
            gets a new serial.
        value: the result.
        parent: the result it was computed from and refers to; it never outlives its parent.
        pieces: the memory that it keeps alive, as last counted.
        used: number of its last use, or of that of a result computed from it, among all uses.
    """

    id: str
    serial: int
    value: T
    parent: "Held | None" = None
    pieces: memory.Pieces = field(default_factory=dict, repr=False)
    used: int = 0

    @property
    def lineage(self) -> "list[Held]":
        """This result, the one it was made from, and so on."""
        return [self, *(self.parent.lineage if self.parent else ())]

    @property
    def is_network(self) -> bool:
        """Whether it is a network, which others are made from."""
        return self.parent is None and any(piece.kind == "network" for piece in self.pieces)


@dataclass(eq=False)
class Expected:
    """A result that is being computed.

    Attributes:
        id: of the result.
        serial: of the result.
        settled: True once the result is held, False once its computation has ended without one.
        runs: how many compute it or wait for it.
    """

    id: str
    serial: int
    settled: Future[bool] = field(default_factory=Future)
    runs: int = 0


class UnknownError(LookupError):
    """No result was ever held under this id."""


class GoneError(LookupError):
    """The result was evicted."""


class Registry:
    """A bounded store of results; the least recently used is evicted first.

    Everything a result keeps alive is counted, and once where several results share it. Networks
    have a limit of their own; with a network go all results that were made from it. The newest
    result and what it was made from always stay.

    Ids are keyed with a secret of the process: equal inputs share one result, and nobody can
    compute the id of somebody else's text.
    """

    def __init__(
        self,
        max_bytes: int = MAX_BYTES,
        max_network_bytes: int = MAX_NETWORK_BYTES,
        overhead: int = OVERHEAD,
    ) -> None:
        self._secret = secrets.token_bytes(32)
        self._max_bytes, self._max_network_bytes = max_bytes, max_network_bytes
        self._overhead = overhead
        self._lock = threading.RLock()
        self._held: dict[str, Held] = {}
        self._evicted: OrderedDict[str, None] = OrderedDict()
        self._computing: dict[str, Future[Held]] = {}
        self._expected: dict[str, Expected] = {}
        self._uses = self._serial = 0

    def once(
        self,
        key: Hashable,
        make: Callable[[], T],
        parent: Held | None = None,
        meanwhile: Callable[[], None] = lambda: None,
    ) -> Held[T]:
        """The result for this key, computed if necessary; concurrent callers wait for it.

        Args:
            key: everything the result depends on; its `repr` is hashed.
            make: computes the result. Its exception is raised in every waiting caller.
            parent: the result that `make` uses and its value refers to.
            meanwhile: see `pool.wait`, while somebody else computes the result.
        """
        id = self.id_of(key)
        while True:
            with self._lock:
                held = self._find(id)
                if held is not None and held.parent is parent:
                    return held
                computing = self._computing.get(id)
                if computing is None:
                    mine = self._computing[id] = Future()
                    break
            pool.wait(partial(_is_done, computing), meanwhile)
            try:
                return computing.result()
            except CancelledError:
                continue  # the computing thread was interrupted: compute it here
        try:
            held = self._keep(id, make(), parent)
            mine.set_result(held)
            return held
        except (pool.StoppedError, pool.LaterError):
            raise  # about this request alone: who waits computes it
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
            entry = self._find(id) or self._expected.get(id)
            if entry is None:
                entry = self._expected[id] = Expected(id, self._next_serial())
            if isinstance(entry, Expected):
                entry.runs += 1
        try:
            yield entry
        finally:
            if isinstance(entry, Expected):
                self._expect_no_more(entry)

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
            held = self._find(id)
            if held is not None:
                return held
            raise GoneError(id) if id in self._evicted else UnknownError(id)

    def evict(self, id: str) -> None:
        """Drops a result and all results that refer to it; unknown ids are ignored."""
        with self._lock:
            evicted = self._held.pop(id, None)
            if evicted is None:
                return
            self._evicted[id] = None
            if len(self._evicted) > REMEMBERED:
                self._evicted.popitem(last=False)
            for child in [held.id for held in self._held.values() if held.parent is evicted]:
                self.evict(child)

    def id_of(self, key: Hashable) -> str:
        """The id of the result for a key."""
        digest = hmac.new(self._secret, repr(key).encode("utf-8", "replace"), hashlib.sha256)
        return base64.urlsafe_b64encode(digest.digest()[:18]).decode()

    def counted(self, held: Held) -> None:
        """Counts a result again, which has grown, and evicts what exceeds the limits."""
        pieces = self._pieces(held.id, held.value)
        with self._lock:
            if self._held.get(held.id) is held:
                held.pieces = pieces
                self._evict_excess(held)

    def _find(self, id: str) -> Held | None:
        held = self._held.get(id)
        self._uses += 1
        for each in held.lineage if held else ():
            each.used = self._uses
        return held

    def _pieces(self, id: str, value: Any) -> dict[memory.Piece, int]:
        return {**memory.pieces(value), memory.Piece("object", (id, 0)): self._overhead}

    def _keep(self, id: str, value: T, parent: Held | None) -> Held[T]:
        pieces = self._pieces(id, value)
        with self._lock:
            self.evict(id)
            expected = self._expected.pop(id, None)
            serial = self._next_serial() if expected is None else expected.serial
            held = self._held[id] = Held(id, serial, value, parent, pieces)
            self._evicted.pop(id, None)
            self._find(id)
            self._evict_excess(held)
        if expected is not None:
            expected.settled.set_result(True)
        return held

    def _evict_excess(self, newest: Held) -> None:
        """Evicts results while they exceed the limits, but not this one nor what it refers to."""
        while True:
            held = self._held.values()
            kept = {piece: size for each in held for piece, size in each.pieces.items()}
            networks = sum(size for piece, size in kept.items() if piece.kind == "network")
            others = [each for each in held if each not in newest.lineage]
            excess: list[Held] = []
            if networks > self._max_network_bytes:
                excess = [each for each in others if each.is_network]
            if not excess and sum(kept.values()) - networks > self._max_bytes:
                excess = [each for each in others if not each.is_network]
            if not excess:
                return
            self.evict(min(excess, key=lambda each: each.used).id)

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


def _is_done(computing: Future[Held], seconds: float) -> bool:
    """Whether a computation ends within so many seconds."""
    try:
        computing.exception(seconds)
    except TimeoutError:
        return False
    except CancelledError:
        pass
    return True


registry = Registry()
