"""Results held for the views, under unguessable ids."""

import base64
import hashlib
import hmac
import os
import secrets
import threading
from collections import Counter, OrderedDict
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


@dataclass(eq=False)
class Held(Generic[T]):
    """One result.

    Attributes:
        id: its id in the API: a keyed hash of its inputs.
        serial: number of the computation; a result computed again after eviction keeps its id and
            gets a new serial.
        value: the result.
        parent: the result it was computed from and refers to; it never outlives its parent.
        group: the id of the result that it is evicted with: what it was computed from, a network
            aside.
        requests: for it.
        pieces: the memory that it keeps alive, as last counted.
        used: number of its last use among those of all results.
    """

    id: str
    serial: int
    value: T
    parent: "Held | None" = None
    group: str = ""
    requests: Requests = field(default_factory=Requests)
    pieces: memory.Pieces = field(default_factory=dict, repr=False)
    used: int = 0


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
    """A bounded store of results; what frees most memory for its last use is evicted first.

    Everything a result keeps alive is counted, and once where several results share it. Of what is
    too much, the group goes whose unshared bytes, times the uses of others since its own last one,
    are the most: a small result outlasts a large one, and one that frees nothing stays. Networks
    have a limit of their own; with a network go all results that keep it alive. What the newest
    result refers to always stays.

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
        self._lock = threading.Lock()
        self._held: dict[str, Held] = {}
        self._uses = 0
        self._evicted: OrderedDict[str, None] = OrderedDict()
        self._computing: dict[str, Future[Held]] = {}
        self._expected: dict[str, Expected] = {}
        self._serial = 0

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
            value = make()
            held = self._keep(id, value, parent)
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
            entry = self._find(id)
            if entry is None:
                entry = self._expected.get(id)
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
            self._drop(id)

    def id_of(self, key: Hashable) -> str:
        """The id of the result for a key."""
        digest = hmac.new(self._secret, repr(key).encode("utf-8", "replace"), hashlib.sha256)
        return base64.urlsafe_b64encode(digest.digest()[:18]).decode()

    def _find(self, id: str) -> Held | None:
        held = self._held.get(id)
        self._uses += 1
        for each in _lineage(held):
            each.used = self._uses
        return held

    def counted(self, held: Held) -> None:
        """Counts a result again, which has grown, and evicts what exceeds the limits."""
        pieces = self._pieces(held.id, held.value)
        with self._lock:
            if self._held.get(held.id) is held:
                held.pieces = pieces
                self._evict_excess(held)

    def _pieces(self, id: str, value: Any) -> dict[memory.Piece, int]:
        return {**memory.pieces(value), memory.Piece("object", (id, 0)): self._overhead}

    def _keep(self, id: str, value: T, parent: Held | None) -> Held[T]:
        pieces = self._pieces(id, value)
        group = id if parent is None or _opens_network(parent) else parent.group
        with self._lock:
            self._drop(id)
            expected = self._expected.pop(id, None)
            if expected is None:
                held = Held(id, self._next_serial(), value, parent, group, pieces=pieces)
            else:
                requests = expected.requests
                held = Held(id, expected.serial, value, parent, group, requests, pieces)
            self._held[id] = held
            self._evicted.pop(id, None)
            self._find(id)
            self._evict_excess(held)
        if expected is not None:
            expected.settled.set_result(True)
        return held

    def _evict_excess(self, held: Held) -> None:
        """Evicts results while they exceed the limits, but not this one nor what it refers to."""
        lineage = _lineage(held)
        needed = {piece for each in lineage for piece in each.pieces}
        stays = {each.group for each in lineage}
        while True:
            holders = self._holders()
            networks = {piece: size for piece, size in holders if piece.kind == "network"}
            costs = {
                piece: networks[piece] * min(map(self._idle, groups))
                for (piece, _), groups in holders.items()
                if piece in networks and piece not in needed
            }
            if costs and sum(networks.values()) > self._max_network_bytes:
                largest = max(costs, key=costs.__getitem__)
                for group in holders[largest, networks[largest]]:
                    self._drop_group(group)
                continue
            groups = self._groups() - stays
            size = sum(size for piece, size in holders if piece.kind != "network")
            if not groups or size <= self._max_bytes:
                return
            alone = Counter[str]()
            for (piece, size), (group, *others) in holders.items():
                alone[group] += 0 if others or piece.kind == "network" else size
            idle = self._idle
            self._drop_group(max(groups, key=lambda g: (alone[g] * idle(g), idle(g))))

    def _holders(self) -> dict[tuple[memory.Piece, int], set[str]]:
        """The groups that keep each piece of memory alive, by the piece and its bytes."""
        holders: dict[tuple[memory.Piece, int], set[str]] = {}
        for each in self._held.values():
            for piece in each.pieces.items():
                holders.setdefault(piece, set()).add(each.group)
        return holders

    def _groups(self) -> set[str]:
        """Groups that can be evicted: a network stays as long as its results."""
        held = self._held.values()
        networks = {e.parent.group for e in held if e.parent and e.parent.group != e.group}
        return {each.group for each in held} - networks

    def _idle(self, group: str) -> int:
        """How many uses of results there were from the last of a group on, itself included."""
        used = max(each.used for each in self._held.values() if each.group == group)
        return self._uses - used + 1

    def _drop_group(self, group: str) -> None:
        for id in [each.id for each in self._held.values() if each.group == group]:
            self._drop(id)

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
        self._evicted[id] = None
        if len(self._evicted) > REMEMBERED:
            self._evicted.popitem(last=False)
        for child in [held.id for held in self._held.values() if held.parent is dropped]:
            self._drop(child)


def _is_done(computing: Future[Held], seconds: float) -> bool:
    """Whether a computation ends within so many seconds."""
    try:
        computing.exception(seconds)
    except TimeoutError:
        return False
    except CancelledError:
        pass
    return True


def _opens_network(held: Held) -> bool:
    """Whether a result is a network, whose results are evicted one by one."""
    return held.parent is None and any(piece.kind == "network" for piece in held.pieces)


def _lineage(held: Held | None) -> list[Held]:
    """A result, the one it was made from, and so on."""
    lineage = []
    while held is not None:
        lineage.append(held)
        held = held.parent
    return lineage


registry = Registry()
