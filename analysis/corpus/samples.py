"""Queries drawn evenly from a corpus: examples of every strength, and pairs of tokens.

Every query of every text has a number that only depends on the seed and on where it stands. The
queries with the smallest numbers are kept, so that each has the same chance, and so that parts of a
corpus, sampled apart, give the sample of the whole.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from analysis.corpus.scales import STRENGTHS

KEPT = 5  # examples of each head in each interval of strength
KEYS = 8  # keys of an example: those with the largest weights
QUERIES = 8_192  # from which pairs of tokens are counted, at most
NONE = np.uint64(2**64 - 1)  # the number of an empty place

Fetch = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]


def numbers(seed: int, text: np.ndarray, query: np.ndarray) -> np.ndarray:
    """A pseudorandom 64-bit number for each query of each text.

    Source: Steele, Lea and Flood 2014, "Fast Splittable Pseudorandom Number Generators".
    """
    golden = np.uint64(0x9E3779B97F4A7C15)
    with np.errstate(over="ignore"):
        state = np.uint64(seed) * np.uint64(0xD1342543DE82EF95) + text.astype(np.uint64)
        for _ in range(2):
            state = _mixed(state + golden)
        return _mixed(_mixed(state + query.astype(np.uint64) * golden + golden) + golden)


def _mixed(state: np.ndarray) -> np.ndarray:
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return state ^ (state >> np.uint64(31))


@dataclass(eq=False)
class Examples:
    """Some queries of each head in each interval of strength, with their strongest keys.

    Attributes:
        number: of each query, ascending: `head interval place`; `NONE` where there is none.
        text: the number of its text.
        query: its position.
        strength: its largest weight on a plain key.
        keys: its strongest keys, −1 where it has fewer.
        weights: theirs.
    """

    number: np.ndarray
    text: np.ndarray
    query: np.ndarray
    strength: np.ndarray
    keys: np.ndarray
    weights: np.ndarray

    @staticmethod
    def empty(heads: int) -> "Examples":
        shape = heads, len(STRENGTHS), KEPT
        return Examples(
            np.full(shape, NONE),
            np.full(shape, -1, np.int64),
            np.full(shape, -1, np.int32),
            np.zeros(shape),
            np.full((*shape, KEYS), -1, np.int32),
            np.zeros((*shape, KEYS), np.float32),
        )

    def offer(
        self,
        first: int,
        number: np.ndarray,
        text: np.ndarray,
        query: np.ndarray,
        strength: np.ndarray,
        fetch: Fetch,
    ) -> None:
        """Keeps those of some queries that belong to the sample.

        Args:
            first: the first of the heads.
            number: of each query, ascending.
            text: of each query.
            query: of each query.
            strength: `head query`; negative for a query that does not count.
            fetch: the strongest keys and their weights, of pairs of a head and a query.
        """
        interval = np.searchsorted(STRENGTHS, strength, side="right") - 1
        limits = self.number[first : first + len(strength), :, -1]
        below = number < np.take_along_axis(limits, np.maximum(interval, 0), 1)
        heads, places = (below & (interval >= 0)).nonzero()
        if not len(heads):
            return
        cell = heads * len(STRENGTHS) + interval[heads, places]
        order = np.argsort(cell, kind="stable")
        cells, starts, sizes = np.unique(cell[order], return_index=True, return_counts=True)
        row = np.repeat(np.arange(len(cells)), sizes)
        rank = np.arange(len(order)) - np.repeat(starts, sizes)
        few = rank < KEPT  # no more of one cell can be in its sample
        row, rank, heads, places = row[few], rank[few], heads[order[few]], places[order[few]]
        keys, weights = fetch(heads, places)
        offered = Examples(
            number[places],
            text[places],
            query[places],
            strength[heads, places],
            keys,
            weights,
        )
        self._insert((first + cells // len(STRENGTHS), cells % len(STRENGTHS)), row, rank, offered)

    def _insert(
        self,
        at: tuple[np.ndarray, np.ndarray],
        row: np.ndarray,
        rank: np.ndarray,
        offered: "Examples",
    ) -> None:
        """The samples of some heads and intervals with what is offered to them.

        Args:
            at: head and interval of each sample.
            row: of each offered query, the sample.
            rank: of each offered query, its place among those that are offered to the sample.
            offered: the queries, without an axis for heads or intervals.
        """
        number = np.full((len(at[0]), KEPT), NONE)
        number[row, rank] = offered.number
        order = np.argsort(np.concatenate([self.number[at], number], 1), 1, kind="stable")[:, :KEPT]
        for name, mine in vars(self).items():
            old = mine[at]
            new = np.zeros_like(old)
            new[row, rank] = getattr(offered, name)
            both = np.concatenate([old, new], 1)
            places = order if both.ndim == 2 else order[..., None]
            mine[at] = np.take_along_axis(both, places, 1)

    def merge(self, other: "Examples") -> None:
        """The sample of both parts."""
        number = np.concatenate([self.number, other.number], 2)
        order = np.argsort(number, 2, kind="stable")[..., :KEPT]
        for name, mine in vars(self).items():
            both = np.concatenate([mine, getattr(other, name)], 2)
            places = order if both.ndim == 3 else order[..., None]
            setattr(self, name, np.take_along_axis(both, places, 2))


@dataclass(eq=False)
class Pairs:
    """Queries drawn evenly, with the plain key that draws most of each in every head of a site.

    Attributes:
        number: of each query, ascending.
        token: its token.
        keys: the token of the key, `query head`.
        weights: its weight.
    """

    number: np.ndarray = field(default_factory=lambda: np.zeros(0, np.uint64))
    token: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int32))
    keys: np.ndarray = field(default_factory=lambda: np.zeros((0, 0), np.int32))
    weights: np.ndarray = field(default_factory=lambda: np.zeros((0, 0), np.float32))

    @staticmethod
    def together(parts: "Sequence[Pairs]") -> "Pairs":
        """The sample of several parts, one or more, of the same heads."""
        number = np.concatenate([part.number for part in parts])
        order = np.argsort(number, kind="stable")[:QUERIES]
        names = ("number", "token", "keys", "weights")
        return Pairs(*(np.concatenate([getattr(p, n) for p in parts])[order] for n in names))

    def merge(self, other: "Pairs") -> None:
        """The sample of both parts."""
        if not len(self.number) or not len(other.number):
            kept = self if len(self.number) else other
        else:
            kept = Pairs.together([self, other])
        self.__dict__ |= vars(kept)
