"""What was computed for one registry entry besides its trace."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, NamedTuple

from viz.api import memory, pool

MAX_BYTES = 256 << 20


class _Answer(NamedTuple):
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
        known = self._known.get(key)
        return None if known is None else known.value

    def once(self, key: Hashable, compute: Callable[[], Any]) -> Any:
        """The answer, computed if necessary; others who ask for it meanwhile wait (`pool.wait`).

        Args:
            key: of the answer.
            compute: returns it. What it raises is not kept.
        """
        with self._lock:
            if key in self._known:
                self._known.move_to_end(key)
                return self._known[key].value
            turn = self._turns.setdefault(key, threading.Lock())
        pool.wait(lambda seconds: turn.acquire(timeout=seconds))
        try:
            known = self._known.get(key)  # by who had the turn before
            return known.value if known else self._keep(key, compute())
        finally:
            with self._lock:
                if self._turns.get(key) is turn:
                    del self._turns[key]
            turn.release()

    def _keep(self, key: Hashable, value: Any) -> Any:
        if self._counted is None:
            self._counted = memory.pieces(self._beside)
        pieces = memory.pieces(value)
        answer = _Answer(value, {p: pieces[p] for p in pieces if p not in self._counted})
        with self._lock:
            self._known[key] = answer
            self.changes += 1
            while len(self._known) > 1 and sum(self._pieces().values()) > self._max_bytes:
                self._known.popitem(last=False)
        return value

    def _pieces(self) -> dict[memory.Piece, int]:
        return {p: size for each in self._known.values() for p, size in each.pieces.items()}
