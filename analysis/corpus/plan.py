"""Plans a run: reads the corpus once without the network, and cuts it into shards on disk.

The plan fixes what must not depend on how the work is divided: the number of each text, which
tokens are counted one by one, and which queries are sampled. A run that was killed while planning
begins again; one that has a plan goes on after its last shard.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analysis.corpus.files import FOLDER
from analysis.corpus.settings import Place, Scheme, Settings
from analysis.corpus.state import QUERIES
from analysis.corpus.tally import Item
from analysis.corpus.texts import Text
from models.files.objects import read_object
from models.trace import Where
from models.whole_file import write_whole

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
        places: the heads.
        scores: of the weight matrices of each head, by name.
        model: digest of the network.
        sizes: texts of each shard.
        tokens: number of tokens of all texts.
        labels: what token ids show, by id.
        counted: ids of the tokens that are counted one by one.
        shortened: how many texts were cut to the longest length.
        empty: how many had fewer than two tokens.
    """

    settings: Settings
    places: tuple[Place, ...]
    scores: Mapping[str, list[float]]
    model: str
    sizes: list[int]
    tokens: int
    labels: dict[int, str]
    counted: tuple[int, ...]
    shortened: int
    empty: int

    @property
    def texts(self) -> int:
        return sum(self.sizes)

    @cached_property
    def scheme(self) -> Scheme:
        """What it is added up by."""
        return Scheme(self.settings, self.places, self.counted)

    def save(self, folder: Path) -> None:
        """Writes the plan into the folder of its run."""
        write_whole(folder / FOLDER / "plan.json", json.dumps(asdict(self), ensure_ascii=False))

    @staticmethod
    def open(folder: Path) -> "Plan | None":
        """The plan of a run; None if it has none yet.

        Raises:
            ValueError: for one of another version.
        """
        path = folder / FOLDER / "plan.json"
        if not path.exists():
            return None
        try:
            manifest = read_object(path)
            return Plan(
                **manifest
                | {
                    "settings": Settings(**manifest["settings"]),
                    "places": tuple(
                        Place(**each | {"where": Where(**each["where"])})
                        for each in manifest["places"]
                    ),
                    "labels": {int(n): label for n, label in manifest["labels"].items()},
                    "counted": tuple(manifest["counted"]),
                }
            )
        except (ValueError, LookupError, TypeError) as error:
            raise ValueError(
                f"{folder.name} was begun by another version: name another folder"
            ) from error


def planned(
    model: "Model",
    settings: Settings,
    folder: Path,
    texts: Iterable[Text],
    heads: tuple[tuple[Place, ...], Mapping[str, list[float]]],
    *,
    digest: str = "",
    shard: int,
) -> Plan:
    """Tokenises texts, writes them into shards, and plans how they are read.

    Raises:
        ValueError: if there are no texts.
    """
    (folder / FOLDER).mkdir(parents=True, exist_ok=True)
    reader = _Reader(model, settings)
    rows, sizes = reader.rows(texts), []
    while part := list(islice(rows, shard)):
        path = _shard(folder, len(sizes))
        sizes.append(len(part))
        write_whole(path, json.dumps(part, ensure_ascii=False))
    if not sizes:
        raise ValueError("the corpus is empty: expected at least one text of two tokens")
    counts, tokens = reader.counts, reader.counts.total()
    common = sorted(counts, key=lambda token: (-counts[token], token))[:TOKENS]
    plan = Plan(
        settings=replace(settings, sampled=min(1.0, QUERIES / max(1, tokens))),
        places=heads[0],
        scores=heads[1],
        model=digest,
        sizes=sizes,
        tokens=tokens,
        labels=reader.labels,
        counted=tuple(sorted(common)),
        shortened=reader.shortened,
        empty=reader.empty,
    )
    plan.save(folder)
    return plan


class _Reader:
    """Tokenises texts, and counts what it reads."""

    def __init__(self, model: "Model", settings: Settings) -> None:
        self.model, self.settings = model, settings
        self.labels: dict[int, str] = {}
        self.counts: Counter[int] = Counter()
        self.number = self.shortened = self.empty = 0

    def rows(self, texts: Iterable[Text]) -> Iterator[dict[str, Any]]:
        """The inputs as they are written; texts that are too short for attention are left out."""
        for text in texts:
            kept, tokens = text.text, 0
            if not self.settings.pictures:
                kept, tokens = self._counted(text.text)
                if tokens < 2:
                    self.empty += 1
                    continue
            yield asdict(Item(self.number, text.source, kept, tokens, text.target))
            self.number += 1

    def _counted(self, text: str) -> tuple[str, int]:
        """What is read of a text, and how many tokens it has."""
        tokenizer = self.model.tokenizer
        if tokenizer is None:
            raise ValueError(f"{self.model.name} has no tokenizer: it cannot read texts")
        kept, tokens = cut(text, tokenizer, min(self.settings.longest, self.model.limit))
        if len(tokens) > 1:
            self.shortened += kept != text
            self.counts.update(tokens.ids)
            for token, label in zip(tokens.ids, tokens.labels, strict=True):
                self.labels.setdefault(token, label)
        return kept, len(tokens)


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


def _shard(folder: Path, number: int) -> Path:
    return folder / FOLDER / f"texts-{number:05}.json"


def open_shard(folder: Path, number: int) -> list[Item]:
    """The inputs of a shard."""
    return [Item(**each) for each in json.loads(_shard(folder, number).read_text("utf-8"))]


def forget(folder: Path) -> None:
    """Removes what a run needs to go on."""
    for name in ("texts-*", "plan.json", "state.npz"):
        for path in (folder / FOLDER).glob(name):
            path.unlink()
