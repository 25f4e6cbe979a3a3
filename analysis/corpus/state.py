"""What a part of a corpus leaves behind: everything that is counted, summed and sampled."""

import json
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from analysis.corpus.plan import QUERIES, Plan
from analysis.corpus.samples import Sample
from models.whole_file import whole

KEPT = 5  # examples of each head in each interval of strength
STRENGTHS = np.array([0.0, 0.1, 0.25, 0.5, 0.75, 0.9])  # where each interval of strength begins
GRID = 8  # cells per side of the map of where on a picture weight goes
SIDE = 16  # cells per side of a head's mean maps


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
