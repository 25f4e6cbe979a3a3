"""What a part of a corpus leaves behind: everything that is counted, summed and sampled."""

import json
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from analysis.corpus.plan import QUERIES, Plan
from models.whole_file import whole

KEPT = 5  # examples of each head in each interval of strength
STRENGTHS = np.array([0.0, 0.1, 0.25, 0.5, 0.75, 0.9])  # where each interval of strength begins
GRID = 8  # cells per side of the map of where on a picture weight goes
SIDE = 16  # cells per side of a head's mean maps
PARTS = 64  # of a sample that wait until they are sorted
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
    """Of each cell, the queries with the smallest numbers: examples of every strength, or pairs.

    A query's number only depends on where it stands, so that each query has the same chance, and
    parts of a corpus, sampled apart, give the sample of the whole.

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


@dataclass(eq=False)
class State:
    """What has been read so far. Parts of a corpus are merged in order.

    Attributes:
        totals: counts and sums by name, a row for each head.
        examples: queries of every strength; a cell is a head's interval.
        pairs: of each site, queries with their strongest keys.
        texts: the inputs that the examples come from, by number.
        notes: what happened to inputs, and how often.
        done: the shards that are in it.
    """

    totals: dict[str, np.ndarray]
    examples: Sample
    pairs: list[Sample]
    texts: dict[int, dict[str, Any]] = field(default_factory=dict)
    notes: Counter[str] = field(default_factory=Counter)
    done: set[int] = field(default_factory=set)

    @staticmethod
    def empty(plan: Plan) -> "State":
        columns, tokens = (len(plan.measures),), (len(plan.counted) + 1,)
        shapes: dict[str, tuple[int, ...]] = {
            **dict.fromkeys(("sum", "square", "count", "holds"), columns),
            **dict.fromkeys(("items", "queries"), ()),
            **dict.fromkeys(("corner", "corner items"), (SIDE, SIDE)),
            **dict.fromkeys(("drawn", "given"), tokens),
        }
        if plan.settings.pictures:
            shapes["grid"] = (GRID * GRID,)
        totals = {name: np.zeros((plan.heads, *shape)) for name, shape in shapes.items()}
        return State(totals, Sample(KEPT), [Sample(QUERIES) for _ in plan.places])

    def merge(self, other: "State") -> None:
        """Adds another part."""
        for name, values in other.totals.items():
            self.totals[name] += values
        self.examples.merge(other.examples)
        for mine, theirs in zip(self.pairs, other.pairs, strict=True):
            mine.merge(theirs)
        self.notes += other.notes
        self.texts |= other.texts
        self.done |= other.done
        self.forget()

    def forget(self) -> None:
        """Drops the texts of which no example is kept."""
        used = set(self.examples.rows().get("text", np.empty(0, int)).tolist())
        self.texts = {number: text for number, text in self.texts.items() if number in used}

    def save(self, path: Path) -> None:
        """Writes it; the old file stays until the new one is complete.

        Raises:
            OSError: if there is no room.
        """
        rest = {"texts": self.texts, "notes": self.notes, "done": sorted(self.done)}
        packed = np.frombuffer(json.dumps(rest).encode(), np.uint8)
        kinds = {"totals": self.totals, "examples": self.examples.rows()}
        kinds |= {f"pairs {n}": sample.rows() for n, sample in enumerate(self.pairs)}
        named = ((kind, *each) for kind, some in kinds.items() for each in some.items())
        arrays: Any = {f"{kind}/{name}": values for kind, name, values in named}
        with whole(path) as temporary:
            np.savez(temporary, rest=packed, **arrays)

    @staticmethod
    def open(path: Path, plan: Plan) -> "State":
        """What was saved; nothing if there is no such file."""
        if not path.exists():
            return State.empty(plan)
        kinds: dict[str, dict[str, np.ndarray]] = {}
        with np.load(path) as file:
            rest = json.loads(file["rest"].tobytes())
            for key in file:
                kind, _, name = key.partition("/")
                kinds.setdefault(kind, {})[name] = file[key]
        pairs = [Sample(QUERIES, **kinds.get(f"pairs {n}", {})) for n in range(len(plan.places))]
        texts = {int(number): text for number, text in rest["texts"].items()}
        samples = Sample(KEPT, **kinds.get("examples", {})), pairs
        return State(kinds["totals"], *samples, texts, Counter(rest["notes"]), set(rest["done"]))
