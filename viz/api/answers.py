"""What was computed for one registry entry besides its trace."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any

from viz.api import memory, pool

MAX_BYTES = 256 << 20


@dataclass(frozen=True)
class _Answer:
    variant: Hashable
    value: Any
    pieces: memory.Pieces


class Answers:
    """A bounded store; each answer is computed once, however many ask for it at a time.

    The least recently used ones are dropped first, and computed again when they are asked for.

    Args:
        beside: what the answers refer to and is counted elsewhere, such as the trace.
        max_bytes: of all answers.
    """

    def __init__(self, beside: Any = None, max_bytes: int = MAX_BYTES) -> None:
        self._beside = beside
        self._counted: memory.Pieces | None = None
        self._max_bytes = max_bytes
        self._lock = threading.Lock()
        self._known: OrderedDict[Hashable, _Answer] = OrderedDict()
        self._turns: dict[Hashable, threading.Lock] = {}
        self.changes = 0

    def __contains__(self, key: Hashable) -> bool:
        return key in self._known

    def __pieces__(self) -> dict[memory.Piece, int]:
        with self._lock:
            return self._pieces()

    def get(self, key: Hashable) -> Any:
        """The answer if it is known, else None."""
        with self._lock:
            known = self._known.get(key)
        return None if known is None else known.value

    def once(self, key: Hashable, compute: Callable[[], Any], variant: Hashable = None) -> Any:
        """The answer, computed if necessary; others who ask for it meanwhile wait (`pool.wait`).

        Args:
            key: of the answer.
            compute: returns it. What it raises is not kept.
            variant: of several variants of one answer, only the last is kept.
        """
        with self._lock:
            known = self._find(key, variant)
            if known is not None:
                return known.value
            turn = self._turns.setdefault(key, threading.Lock())
        pool.wait(lambda seconds: turn.acquire(timeout=seconds))
        try:
            with self._lock:
                known = self._find(key, variant)
            if known is None:
                known = self._keep(key, variant, compute())
            return known.value
        finally:
            with self._lock:
                if self._turns.get(key) is turn:
                    del self._turns[key]
            turn.release()

    def _find(self, key: Hashable, variant: Hashable) -> _Answer | None:
        known = self._known.get(key)
        if known is None or known.variant != variant:
            return None
        self._known.move_to_end(key)
        return known

    def _keep(self, key: Hashable, variant: Hashable, value: Any) -> _Answer:
        if self._counted is None:
            self._counted = memory.pieces(self._beside)
        pieces = memory.pieces(value)
        answer = _Answer(variant, value, {p: pieces[p] for p in pieces if p not in self._counted})
        with self._lock:
            self._known[key] = answer
            self._known.move_to_end(key)
            self.changes += 1
            while len(self._known) > 1 and sum(self._pieces().values()) > self._max_bytes:
                self._known.popitem(last=False)
        return answer

    def _pieces(self) -> dict[memory.Piece, int]:
        return {p: size for each in self._known.values() for p, size in each.pieces.items()}
