"""What a part of a corpus leaves behind: everything that is counted, summed and sampled.

Parts can be merged in any order. A part travels, and is saved, as one Arrow table.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from analysis.corpus.samples import NONE, Examples, Pairs
from analysis.corpus.sums import Sums
from models.trace import Site, Where

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class Place:
    """Where the heads of one site stand among all heads.

    Attributes:
        where: address of the site.
        first: number of its first head.
        heads: how many it has.
    """

    where: Where
    first: int
    heads: int

    @property
    def slice(self) -> slice:
        return slice(self.first, self.first + self.heads)


@dataclass(frozen=True)
class Layout:
    """All heads of a network, numbered site by site."""

    places: tuple[Place, ...]

    @staticmethod
    def of(sites: Sequence[Site]) -> "Layout":
        """The heads of some sites, in order."""
        places, first = [], 0
        for site in sites:
            places.append(Place(site.where, first, site.heads))
            first += site.heads
        return Layout(tuple(places))

    @property
    def heads(self) -> int:
        return sum(place.heads for place in self.places)

    def to_json(self) -> list[dict[str, Any]]:
        return [asdict(place) for place in self.places]

    @staticmethod
    def from_json(places: Sequence[dict[str, Any]]) -> "Layout":
        """The layout that `to_json` described."""
        return Layout(
            tuple(Place(Where(**each["where"]), each["first"], each["heads"]) for each in places)
        )


@dataclass(eq=False)
class State:
    """What has been read so far.

    Attributes:
        sums: counts and compensated sums.
        examples: queries of every strength.
        pairs: of each site, queries with their strongest keys.
        texts: the inputs that the examples come from, by number.
        notes: what happened to inputs, and how often.
        done: the shards that are in it.
    """

    sums: Sums
    examples: Examples
    pairs: list[Pairs]
    texts: dict[int, dict[str, Any]] = field(default_factory=dict)
    notes: dict[str, int] = field(default_factory=dict)
    done: set[int] = field(default_factory=set)

    @staticmethod
    def empty(layout: Layout) -> "State":
        return State(Sums(), Examples.empty(layout.heads), [Pairs() for _ in layout.places])

    def note(self, what: str) -> None:
        """Counts something that happened to an input."""
        self.notes[what] = self.notes.get(what, 0) + 1

    def merge(self, other: "State") -> None:
        """Adds another part."""
        self.sums.merge(other.sums)
        self.examples.merge(other.examples)
        for mine, theirs in zip(self.pairs, other.pairs, strict=True):
            mine.merge(theirs)
        for what, times in other.notes.items():
            self.notes[what] = self.notes.get(what, 0) + times
        self.texts |= other.texts
        self.done |= other.done
        self.forget()

    def forget(self) -> None:
        """Drops the texts of which no example is kept."""
        used = {int(each) for each in self.examples.text[self.examples.number != NONE]}
        self.texts = {number: text for number, text in self.texts.items() if number in used}

    def to_table(self) -> "pa.Table":
        """One row for each array, and one for what is no array."""
        import pyarrow as pa

        rest = {"texts": self.texts, "notes": self.notes, "done": sorted(self.done)}
        rows = [("rest", "json", [], json.dumps(rest, ensure_ascii=False).encode())]
        for name, values in self._arrays():
            rows.append((name, values.dtype.str, list(values.shape), values.tobytes()))
        names, kinds, shapes, data = zip(*rows, strict=True)
        columns = {
            "name": pa.array(names, pa.string()),
            "dtype": pa.array(kinds, pa.string()),
            "shape": pa.array(shapes, pa.list_(pa.int64())),
            "data": pa.array(data, pa.large_binary()),
        }
        return pa.table(columns)

    def _arrays(self) -> Iterator[tuple[str, np.ndarray]]:
        for kind in ("counts", "high", "low"):
            for name, values in sorted(getattr(self.sums, kind).items()):
                yield f"{kind}/{name}", np.ascontiguousarray(values)
        for name, values in vars(self.examples).items():
            yield f"examples/{name}", np.ascontiguousarray(values)
        for site, pairs in enumerate(self.pairs):
            for name, values in vars(pairs).items():
                yield f"pairs/{site}/{name}", np.ascontiguousarray(values)

    @staticmethod
    def from_table(table: "pa.Table") -> "State":
        """The part that `to_table` wrote."""
        sums, examples, pairs, rest = Sums(), {}, {}, {}
        for row in table.to_pylist():
            kind, _, name = row["name"].partition("/")
            if kind == "rest":
                rest = json.loads(row["data"])
                continue
            values = np.frombuffer(row["data"], row["dtype"]).reshape(row["shape"]).copy()
            if kind == "examples":
                examples[name] = values
            elif kind == "pairs":
                site, _, name = name.partition("/")
                pairs.setdefault(int(site), {})[name] = values
            else:
                getattr(sums, kind)[name] = values
        texts = {int(number): text for number, text in rest["texts"].items()}
        every = [Pairs(**pairs[site]) for site in range(len(pairs))]
        return State(sums, Examples(**examples), every, texts, rest["notes"], set(rest["done"]))
