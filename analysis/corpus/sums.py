"""Counts and sums that can be added in any order: integers, and float64 with what it rounds off."""

from collections.abc import Mapping

import numpy as np


class Sums:
    """Named arrays of counts and of compensated sums.

    A sum is kept as two float64 numbers, the sum and what its additions rounded off. The order of
    additions changes it by some 1e-32 of the sum of sizes, which no float64 shows.

    Source: Knuth, The Art of Computer Programming, volume 2, section 4.2.2, theorem B (TwoSum).

    Attributes:
        counts: int64 arrays by name.
        high: the sums, by name.
        low: what they lack.
    """

    def __init__(
        self,
        counts: Mapping[str, np.ndarray] | None = None,
        high: Mapping[str, np.ndarray] | None = None,
        low: Mapping[str, np.ndarray] | None = None,
    ) -> None:
        self.counts, self.high, self.low = dict(counts or {}), dict(high or {}), dict(low or {})

    def add(self, name: str, values: np.ndarray) -> None:
        """Adds to a sum, which begins at 0."""
        self._add(name, values, np.zeros(()))

    def count(self, name: str, values: np.ndarray) -> None:
        """Adds to a count, which begins at 0."""
        known = self.counts.get(name)
        self.counts[name] = values.astype(np.int64) if known is None else known + values

    def merge(self, other: "Sums") -> None:
        """Adds everything of another."""
        for name, values in other.counts.items():
            self.count(name, values)
        for name, values in other.high.items():
            self._add(name, values, other.low[name])

    def total(self, name: str) -> np.ndarray:
        """A sum as float64."""
        return self.high[name] + self.low[name]

    def _add(self, name: str, values: np.ndarray, rest: np.ndarray) -> None:
        if name not in self.high:
            self.high[name], self.low[name] = values.astype(np.float64), np.zeros(values.shape)
            self.low[name] += rest
            return
        old = self.high[name]
        total = old + values
        part = total - old
        lost = (old - (total - part)) + (values - part)
        low = self.low[name] + (lost + rest)
        self.high[name] = total + low
        self.low[name] = low - (self.high[name] - total)
