"""Queries drawn evenly from a corpus: examples of every strength, and pairs of tokens.

Every query of every text has a number that only depends on where it stands. The queries with the
smallest numbers are kept, so that each has the same chance, and so that parts of a
corpus, sampled apart, give the sample of the whole.
"""

import numpy as np

PARTS = 64  # that wait until they are sorted
NONE = np.uint64(2**64 - 1)  # above every number


def numbers(text: np.ndarray, query: np.ndarray) -> np.ndarray:
    """A pseudorandom 64-bit number for each query of each text.

    Source: Steele, Lea and Flood 2014, "Fast Splittable Pseudorandom Number Generators".
    """
    golden = np.uint64(0x9E3779B97F4A7C15)
    with np.errstate(over="ignore"):
        state = text.astype(np.uint64)
        for _ in range(2):
            state = _mixed(state + golden)
        return _mixed(_mixed(state + query.astype(np.uint64) * golden + golden) + golden)


def _mixed(state: np.ndarray) -> np.ndarray:
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return state ^ (state >> np.uint64(31))


class Sample:
    """Of each cell, the queries with the smallest numbers.

    Attributes:
        most: queries of a cell.
    """

    def __init__(self, most: int, **columns: np.ndarray) -> None:
        """A sample with some queries: their cells, numbers, and whatever else is kept of them."""
        self.most = most
        self._parts = [columns] if columns else []

    def offer(self, **columns: np.ndarray) -> None:
        """Adds queries, as far as they belong to the sample."""
        self._parts.append(columns)
        if len(self._parts) > PARTS:
            self.rows()

    def merge(self, other: "Sample") -> None:
        """Adds the queries of another part of the corpus."""
        if rows := other.rows():
            self.offer(**rows)

    def rows(self) -> dict[str, np.ndarray]:
        """What is kept of each query, by cell and number; empty if there was none."""
        if len(self._parts) > 1:
            joined = {
                name: np.concatenate([part[name] for part in self._parts])
                for name in self._parts[0]
            }
            order = smallest(joined["cell"], joined["number"], self.most)
            self._parts = [{name: values[order] for name, values in joined.items()}]
        return self._parts[0] if self._parts else {}

    def limits(self, cells: int) -> np.ndarray:
        """For each cell the number below which another query belongs to the sample."""
        limits, rows = np.full(cells, NONE), self.rows()
        if rows:
            _, rank = _ranked(rows["cell"], rows["number"])
            last = rank == self.most - 1
            limits[rows["cell"][last]] = rows["number"][last]
        return limits


def smallest(cells: np.ndarray, number: np.ndarray, most: int) -> np.ndarray:
    """The places of the smallest numbers of each cell."""
    order, rank = _ranked(cells, number)
    return order[rank < most]


def _ranked(cells: np.ndarray, number: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The order by cell and number, and the rank within its cell of each place of that order."""
    order = np.lexsort((number, cells))
    ordered = cells[order]
    return order, np.arange(len(order)) - np.searchsorted(ordered, ordered)
