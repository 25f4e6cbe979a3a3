"""What a part of a corpus leaves behind: everything that is counted, summed and sampled."""

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from analysis.corpus.samples import Sample
from analysis.corpus.scales import BINS, GRID, SIDE
from analysis.corpus.settings import Scheme
from models.whole_file import whole

KEPT = 5  # examples of each head in each interval of strength
QUERIES = 8_192  # from which pairs of tokens are counted, at most


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
    def empty(scheme: Scheme) -> "State":
        columns, tokens = len(scheme.measures), len(scheme.counted) + 1
        shapes: dict[str, tuple[int, ...]] = {
            **dict.fromkeys(("sum", "square", "count"), (columns,)),
            "histogram": (columns, scheme.bins),
            **dict.fromkeys(("items", "queries"), ()),
            "distance": (2 * BINS - 1,),
            **dict.fromkeys(("corner", "corner items"), (SIDE, SIDE)),
            **dict.fromkeys(("drawn", "given"), (tokens,)),
        }
        if scheme.settings.pictures:
            shapes["grid"] = (GRID * GRID,)
        heads = scheme.heads
        totals = {name: np.zeros((heads, *shape)) for name, shape in shapes.items()}
        return State(totals, Sample(KEPT), [Sample(QUERIES) for _ in scheme.places])

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
        with whole(path) as temporary:
            arrays: Any = dict(self._arrays())
            np.savez(temporary, rest=packed, **arrays)

    def _arrays(self) -> Iterator[tuple[str, np.ndarray]]:
        samples = {"examples": self.examples} | {f"pairs {n}": p for n, p in enumerate(self.pairs)}
        for kind, arrays in {
            "totals": self.totals,
            **{k: s.rows() for k, s in samples.items()},
        }.items():
            for name, values in arrays.items():
                yield f"{kind}/{name}", values

    @staticmethod
    def open(path: Path, scheme: Scheme) -> "State":
        """What was saved; nothing if there is no such file."""
        if not path.exists():
            return State.empty(scheme)
        kinds: dict[str, dict[str, np.ndarray]] = {}
        with np.load(path) as file:
            rest = json.loads(file["rest"].tobytes())
            for key in file:
                kind, _, name = key.partition("/")
                kinds.setdefault(kind, {})[name] = file[key]
        pairs = [Sample(QUERIES, **kinds.get(f"pairs {n}", {})) for n in range(len(scheme.places))]
        texts = {int(number): text for number, text in rest["texts"].items()}
        examples = Sample(KEPT, **kinds.get("examples", {}))
        return State(
            kinds["totals"], examples, pairs, texts, Counter(rest["notes"]), set(rest["done"])
        )
