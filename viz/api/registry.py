"""Results that are kept for the views, and what was computed for each, under unguessable ids."""

import os
import secrets
import threading
from collections.abc import Callable, Hashable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from viz.api import memory, pool

T = TypeVar("T")

MAX_BYTES = int(os.environ.get("RESULTS_MB", "2048")) << 20  # of results, networks aside
MAX_NETWORK_BYTES = 3 << 29  # two models of half a gigabyte can be compared
OVERHEAD = 1 << 18  # bytes of a result that are not counted: objects of Python, labels


@dataclass(eq=False)
class Held(Generic[T]):
    """One result.

    Attributes:
        key: everything it depends on.
        value: the result; None until it is computed.
        parent: the result it was computed from and refers to; it never outlives its parent.
        id: its id in the API; a result computed again after eviction gets another one.
        pieces: the memory that it keeps alive.
        used: number of its last use, or of that of a result computed from it, among all uses.
        settled: True once the result is there, False once its computation has ended without one.
        runs: how many expect it.
    """

    key: Hashable
    value: T
    parent: "Held | None" = None
    id: str = field(default_factory=lambda: secrets.token_urlsafe(18))
    pieces: memory.Pieces = field(default_factory=dict, repr=False)
    used: int = 0
    settled: Future[bool] = field(default_factory=Future, repr=False)
    runs: int = 0

    @property
    def lineage(self) -> "list[Held]":
        """This result, the one it was made from, and so on."""
        return [self, *(self.parent.lineage if self.parent else ())]

    @property
    def is_network(self) -> bool:
        """Whether it is a network, which others are made from."""
        return self.parent is None and any(piece.kind == "network" for piece in self.pieces)


class GoneError(LookupError):
    """No result is held under this id."""


class Registry:
    """A bounded store of results; the least recently used is evicted first.

    Everything a result keeps alive is counted, and once where several results share it. Networks
    have a limit of their own; with a network go all results that were made from it. The newest
    result and what it was made from always stay.
    """

    def __init__(
        self,
        max_bytes: int = MAX_BYTES,
        max_network_bytes: int = MAX_NETWORK_BYTES,
        overhead: int = OVERHEAD,
    ) -> None:
        self._max_bytes, self._max_network_bytes = max_bytes, max_network_bytes
        self._overhead = overhead
        self._lock = threading.RLock()
        self._held: dict[Hashable, Held] = {}
        self._expected: dict[Hashable, Held] = {}
        self._ids: dict[str, Held] = {}
        self._turns: dict[Hashable, threading.Lock] = {}
        self._uses = 0

    def once(
        self,
        key: Hashable,
        make: Callable[[], T],
        parent: Held | None = None,
        meanwhile: Callable[[], None] = lambda: None,
    ) -> Held[T]:
        """The result for this key, computed if necessary; concurrent callers wait for it.

        Args:
            key: everything the result depends on.
            make: computes the result; what it raises is not kept.
            parent: the result that `make` uses and its value refers to.
            meanwhile: see `pool.wait`, while somebody else computes the result.
        """
        with self._lock:
            if (known := self.known(key, parent)) is not None:
                return known
            turn = self._turns.setdefault(key, threading.Lock())
        pool.wait(lambda seconds: turn.acquire(timeout=seconds), meanwhile)
        try:
            return self.known(key, parent) or self._keep(key, make(), parent)
        finally:
            with self._lock:
                if self._turns.get(key) is turn:
                    del self._turns[key]
            turn.release()

    def known(self, key: Hashable, parent: Held | None = None) -> Held | None:
        """The result for this key if it is there."""
        with self._lock:
            held = self._held.get(key)
            return self._touched(held) if held is not None and held.parent is parent else None

    @contextmanager
    def expecting(self, key: Hashable) -> Iterator[Held]:
        """The result for this key, which `once` computes inside: it can be requested already."""
        with self._lock:
            entry = self._held.get(key) or self._expected.setdefault(key, Held(key, None))
            self._ids[entry.id] = entry
            entry.runs += 1
        try:
            yield entry
        finally:
            with self._lock:
                entry.runs -= 1
                if self._expected.get(key) is entry and not entry.runs:
                    del self._expected[key], self._ids[entry.id]
                    entry.settled.set_result(False)

    def get(self, id: str) -> Held:
        """The result with this id, also one that is expected.

        Raises:
            GoneError: there is none: it was evicted, or is of an earlier process.
        """
        with self._lock:
            if id not in self._ids:
                raise GoneError(id)
            return self._touched(self._ids[id])

    def evict(self, id: str) -> None:
        """Drops a result and all results that refer to it; unknown ids are ignored."""
        with self._lock:
            held = self._ids.get(id)
            if held is None or self._held.get(held.key) is not held:
                return
            del self._held[held.key], self._ids[id]
            for child in [each.id for each in self._held.values() if each.parent is held]:
                self.evict(child)

    def _touched(self, held: Held) -> Held:
        self._uses += 1
        for each in held.lineage:
            each.used = self._uses
        return held

    def _keep(self, key: Hashable, value: T, parent: Held | None) -> Held[T]:
        pieces = memory.pieces(value)
        with self._lock:
            if key in self._held:  # of an evicted parent
                self.evict(self._held[key].id)
            held: Held[Any] = self._expected.pop(key, None) or Held(key, None)
            held.value, held.parent = value, parent
            held.pieces = {**pieces, memory.Piece("object", held.id): self._overhead}
            self._held[key] = self._ids[held.id] = held
            if isinstance(answers := getattr(value, "answers", None), Answers):
                answers.kept_in(self, held)
            self._evict_excess(self._touched(held))
        held.settled.set_result(True)
        return held

    def _evict_excess(self, newest: Held) -> None:
        """Evicts results while they exceed the limits, but not this one nor what it refers to."""
        while True:
            kept = {piece: n for held in self._held.values() for piece, n in held.pieces.items()}
            networks = sum(n for piece, n in kept.items() if piece.kind == "network")
            others = [held for held in self._held.values() if held not in newest.lineage]
            excess: list[Held] = []
            if networks > self._max_network_bytes:
                excess = [held for held in others if held.is_network]
            if not excess and sum(kept.values()) - networks > self._max_bytes:
                excess = [held for held in others if not held.is_network]
            if not excess:
                return
            self.evict(min(excess, key=lambda held: held.used).id)


class Answers:
    """What is computed for one result: kept where the result is, else in a registry of its own."""

    def __init__(self) -> None:
        self._registry, self._of = Registry(), None

    def kept_in(self, registry: Registry, held: Held) -> None:
        """From now on they are kept with the result in a registry."""
        self._registry, self._of = registry, held

    def once(self, key: Hashable, compute: Callable[[], Any]) -> Any:
        """The answer, computed if necessary; see `Registry.once`."""
        return self._registry.once((self, key), compute, self._of).value


registry = Registry()
