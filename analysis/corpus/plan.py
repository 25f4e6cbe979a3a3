"""Plans a run: reads the corpus once without the network, and cuts it into shards on disk.

The plan fixes what must not depend on how the work is divided: the number of each text, which texts
are sorted together, which tokens are counted one by one, and which queries are sampled. A run that
was killed while planning begins again; one that has a plan goes on after its last shard.
"""

import hashlib
import json
import math
import os
import shutil
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from analysis.corpus.blocks import Scheme
from analysis.corpus.files import FOLDER, write_json, write_table
from analysis.corpus.samples import QUERIES
from analysis.corpus.settings import Settings
from analysis.corpus.state import Layout
from analysis.corpus.texts import Text

if TYPE_CHECKING:
    from models.model import Model
    from models.text import Tokenizer, Tokens

TOKENS = 4_096  # that are counted one by one, at most: the most frequent ones
CHARACTERS = 32  # of a token, at most, when a long text is cut before it is tokenised


@dataclass(frozen=True)
class Plan:
    """What a run reads, and how.

    Attributes:
        settings: of the run.
        layout: the heads.
        shards: files of texts, by number; those of earlier runs have smaller numbers.
        texts: number of texts, those of earlier runs included.
        tokens: number of their tokens.
        before: number of texts of earlier runs.
        model: digest of the network.
        sizes: texts of each shard.
        digest: of the texts of this run.
        labels: what token ids show, by id.
        counted: ids of the tokens that are counted one by one.
        shortened: how many texts were cut to the longest length.
        empty: how many had fewer than two tokens.
    """

    settings: Settings
    layout: Layout
    shards: dict[int, str]
    texts: int
    tokens: int
    before: int
    model: str
    sizes: dict[int, int]
    digest: str
    labels: dict[int, str]
    counted: tuple[int, ...]
    shortened: int = 0
    empty: int = 0

    @property
    def scheme(self) -> Scheme:
        """What its blocks are added up by."""
        slots = np.full(max(self.counted, default=0) + 2, len(self.counted), np.int64)
        slots[list(self.counted)] = np.arange(len(self.counted))
        return Scheme(self.settings, self.layout, slots)

    def to_json(self) -> dict[str, Any]:
        return asdict(self) | {
            "settings": self.settings.to_json(),
            "layout": self.layout.to_json(),
        }

    @staticmethod
    def from_json(values: dict[str, Any]) -> "Plan":
        """The plan that `to_json` described."""
        return Plan(
            **values
            | {
                "settings": Settings(**values["settings"]),
                "layout": Layout.from_json(values["layout"]),
                "shards": {int(n): name for n, name in values["shards"].items()},
                "sizes": {int(n): size for n, size in values["sizes"].items()},
                "labels": {int(n): label for n, label in values["labels"].items()},
                "counted": tuple(values["counted"]),
            }
        )

    @staticmethod
    def open(folder: Path) -> "Plan | None":
        """The plan of a run; None if it has none yet."""
        path = folder / FOLDER / "plan.json"
        return Plan.from_json(json.loads(path.read_text("utf-8"))) if path.exists() else None


@dataclass(eq=False)
class Planner:
    """Tokenises texts and writes them into shards.

    Attributes:
        model: the model that will read them.
        settings: of the run.
        folder: of the run.
        digest: of the network.
        shard: texts in a shard.
        earlier: the plan of earlier runs into the same folder.
    """

    model: "Model"
    settings: Settings
    folder: Path
    digest: str
    shard: int
    earlier: Plan | None = None

    def __call__(self, texts: Iterable[Text], layout: Layout) -> Plan:
        """Reads all texts and makes the plan.

        Raises:
            ValueError: if there are none.
        """
        work = self.folder / FOLDER
        before = 0 if self.earlier is None else self.earlier.texts
        first = 0 if self.earlier is None else 1 + max(self.earlier.shards, default=-1)
        work.mkdir(parents=True, exist_ok=True)
        for path in work.glob("texts-*.parquet"):
            path.unlink()
        self.counts: Counter[int] = Counter()
        self.labels: dict[int, str] = {} if self.earlier is None else dict(self.earlier.labels)
        self.shortened = self.empty = self.tokens = 0
        digest, number = hashlib.blake2b(digest_size=16), before
        rows: list[dict[str, Any]] = []
        sizes: dict[int, int] = {}
        size = max(1, math.ceil(self.shard / self.settings.block)) * self.settings.block
        for text in texts:
            row = self._row(number, text)
            if row is None:
                continue
            raw = Path(text.text).read_bytes() if self.settings.pictures else text.text.encode()
            for part in (raw, (text.target or "").encode()):
                digest.update(len(part).to_bytes(8, "little") + part)
            rows.append(row)
            number += 1
            if len(rows) == size:
                sizes[first + len(sizes)] = _write(work, first + len(sizes), rows)
                rows = []
        if rows:
            sizes[first + len(sizes)] = _write(work, first + len(sizes), rows)
        if number == before:
            raise ValueError("the corpus is empty: expected at least one text of two tokens")
        plan = self._plan(layout, sizes, number, digest.hexdigest())
        write_json(work / "plan.json", plan.to_json())
        return plan

    def _plan(self, layout: Layout, sizes: dict[int, int], number: int, digest: str) -> Plan:
        earlier = self.earlier
        tokens = self.tokens + (0 if earlier is None else earlier.tokens)
        common = sorted(self.counts, key=lambda token: (-self.counts[token], token))[:TOKENS]
        return Plan(
            replace(self.settings, sampled=min(1.0, QUERIES / max(1, tokens))),
            layout,
            {number: _name(number) for number in sizes},
            number,
            tokens,
            0 if earlier is None else earlier.texts,
            self.digest,
            sizes,
            digest,
            self.labels,
            tuple(sorted(common)) if earlier is None else earlier.counted,
            self.shortened,
            self.empty,
        )

    def _row(self, number: int, text: Text) -> dict[str, Any] | None:
        """A row of a shard; None for a text that is too short for attention."""
        row = {"number": number, "source": text.source, "text": text.text, "target": text.target}
        if self.settings.pictures:
            return row | {"tokens": 0}
        tokenizer = self.model.tokenizer
        if tokenizer is None:
            raise ValueError(f"{self.model.name} has no tokenizer: it cannot read texts")
        longest = min(self.settings.longest, self.model.limit)
        kept, tokens = cut(text.text, tokenizer, longest)
        if len(tokens) < 2:
            self.empty += 1
            return None
        self.shortened += kept != text.text
        self.tokens += len(tokens)
        self.counts.update(tokens.ids)
        for token, label in zip(tokens.ids, tokens.labels, strict=True):
            self.labels.setdefault(token, label)
        return row | {"text": kept, "tokens": len(tokens)}


def cut(text: str, tokenizer: "Tokenizer", longest: int) -> "tuple[str, Tokens]":
    """The beginning of a text that is at most so many tokens, and its tokens."""
    text = text[: longest * CHARACTERS]
    tokens = tokenizer.encode(text)
    while len(tokens) > longest:
        ends = [span[1] for span in tokens.spans if span is not None]
        room = longest - (len(tokens) - len(ends))
        end = ends[max(0, min(room, len(ends) - 1) - 1)]
        text = text[: min(end, len(text) - 1)]
        tokens = tokenizer.encode(text)
    return text, tokens


def _name(shard: int) -> str:
    return f"texts-{shard:05}.parquet"


def _write(work: Path, shard: int, rows: list[dict[str, Any]]) -> int:
    """Writes a shard; returns how many texts it has."""
    import pyarrow as pa

    schema = pa.schema(
        [
            ("number", pa.int64()),
            ("source", pa.string()),
            ("text", pa.large_string()),
            ("tokens", pa.int32()),
            ("target", pa.large_string()),
        ]
    )
    write_table(work / _name(shard), pa.Table.from_pylist(rows, schema))
    return len(rows)


def forget(folder: Path, *, everything: bool = False) -> None:
    """Removes the texts of a finished run; with `everything`, what later runs would go on from."""
    work = folder / FOLDER
    if everything:
        shutil.rmtree(work, ignore_errors=True)
        return
    for path in work.glob("texts-*.parquet"):
        os.unlink(path)
