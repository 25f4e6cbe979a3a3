"""Plans a run: reads the corpus once without the network, and cuts it into shards on disk.

The plan fixes what must not depend on how the work is divided: the number of each text, which
tokens are counted one by one, and which queries are sampled. A run that was killed while planning
begins again; one that has a plan goes on after its last shard.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from itertools import accumulate, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from analysis.circuits import OF_WEIGHTS
from analysis.corpus.files import FOLDER
from analysis.corpus.texts import Text
from analysis.heads import ON_OWN
from analysis.measures import MEASURES, PICTURE_MEASURES, Measure
from models.files.objects import read_object
from models.trace import Site, Where
from models.whole_file import write_whole

if TYPE_CHECKING:
    from models.model import Model
    from models.text import Tokenizer, Tokens

LONGEST = 256  # tokens of a text that are read, at most
SHARD = 2_048  # texts of a shard
PAIRS = 512  # pairs of tokens that are kept of each head
TOKENS = 4_096  # that are counted one by one, at most: the most frequent ones
QUERIES = 8_192  # from which pairs of tokens are counted, at most
CHARACTERS = 32  # of a token, at most, when a long text is cut before it is tokenised


@dataclass(frozen=True)
class Settings:
    """How a corpus is read: equal settings give equal results.

    Attributes:
        pictures: whether the inputs are pictures.
        longest: tokens of a text that are read, at most.
        threads: of PyTorch on a processor; 0 for its own choice.
        pairs: of tokens that are kept of each head, those with the most weight.
    """

    pictures: bool = False
    longest: int = LONGEST
    threads: int = 0
    pairs: int = PAIRS

    def __post_init__(self) -> None:
        for name, least in {"longest": 2, "threads": 0, "pairs": 1}.items():
            if (received := getattr(self, name)) < least:
                raise ValueError(f"{name}: expected {least} or more, received {received}")


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


def places_of(sites: Sequence[Site]) -> tuple[Place, ...]:
    """The heads of some sites, numbered site by site."""
    firsts = accumulate((site.heads for site in sites), initial=0)
    return tuple(Place(s.where, first, s.heads) for s, first in zip(sites, firsts, strict=False))


@dataclass(frozen=True)
class Plan:
    """What a run reads, and what it is added up by.

    Attributes:
        settings: of the run.
        places: the heads.
        counted: ids of the tokens that are counted one by one, ascending.
        scores: of the weight matrices of each head, by name.
        model: digest of the network.
        sizes: texts of each shard.
        tokens: number of tokens of all texts.
        labels: what token ids show, by id.
        shortened: how many texts were cut to the longest length.
        empty: how many had fewer than two tokens.
    """

    settings: Settings
    places: tuple[Place, ...]
    counted: tuple[int, ...]
    scores: Mapping[str, list[float]] = field(default_factory=dict)
    model: str = ""
    sizes: Sequence[int] = ()
    tokens: int = 0
    labels: Mapping[int, str] = field(default_factory=dict)
    shortened: int = 0
    empty: int = 0

    @property
    def texts(self) -> int:
        return sum(self.sizes)

    @property
    def heads(self) -> int:
        return sum(place.heads for place in self.places)

    @property
    def sampled(self) -> float:
        """The share of the queries from which pairs of tokens are counted."""
        return min(1.0, QUERIES / max(1, self.tokens))

    @cached_property
    def sites(self) -> dict[Where, tuple[int, Place]]:
        """Number and place of each site."""
        return {place.where: (number, place) for number, place in enumerate(self.places)}

    @cached_property
    def measures(self) -> tuple[Measure, ...]:
        """The numbers that are taken; patches of a picture have no order along a line."""
        pictures = self.settings.pictures
        without = {*OF_WEIGHTS, *((set(ON_OWN) - {"same token"}) if pictures else ())}
        kept = (each for each in MEASURES if each.key not in without)
        return (*kept, *PICTURE_MEASURES) if pictures else tuple(kept)

    def columns(self, ids: np.ndarray) -> np.ndarray:
        """The column of each token among those that are counted; the last is that of all others."""
        counted = np.array([*self.counted, -1], np.int64)
        at = np.searchsorted(counted[:-1], ids)
        return np.where(counted[at] == ids, at, len(self.counted))

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
            saved: Any = read_object(path)
            places = [Place(**each | {"where": Where(**each["where"])}) for each in saved["places"]]
            saved["places"] = tuple(places)
            saved["settings"] = Settings(**saved["settings"])
            saved["labels"] = {int(n): label for n, label in saved["labels"].items()}
            saved["counted"] = tuple(saved["counted"])
            return Plan(**saved)
        except (ValueError, LookupError, TypeError) as error:
            raise ValueError(
                f"{folder.name} was begun by another version: name another folder"
            ) from error


def planned(plan: Plan, model: "Model", folder: Path, texts: Iterable[Text], shard: int) -> Plan:
    """Tokenises texts, writes them into shards, and completes a plan of settings and heads.

    Raises:
        ValueError: if there are no texts.
    """
    (folder / FOLDER).mkdir(parents=True, exist_ok=True)
    labels: dict[int, str] = {}
    counts, sizes = Counter[int](), list[int]()
    shortened = empty = 0

    def read() -> Iterator[dict[str, Any]]:
        """The inputs as they are written; texts that are too short for attention are left out."""
        nonlocal shortened, empty
        number = 0
        for text in texts:
            if not plan.settings.pictures:
                kept, tokens = cut(text.text, model, plan.settings.longest)
                if len(tokens) < 2:
                    empty += 1
                    continue
                shortened += kept != text.text
                counts.update(tokens.ids)
                for token, label in zip(tokens.ids, tokens.labels, strict=True):
                    labels.setdefault(token, label)
                text = replace(text, text=kept, tokens=len(tokens))
            yield asdict(replace(text, number=number))
            number += 1

    rows = read()
    while part := list(islice(rows, shard)):
        write_whole(_shard(folder, len(sizes)), json.dumps(part, ensure_ascii=False))
        sizes.append(len(part))
    if not sizes:
        raise ValueError("the corpus is empty: expected at least one text of two tokens")
    common = sorted(counts, key=lambda token: (-counts[token], token))[:TOKENS]
    more = {"sizes": sizes, "tokens": counts.total(), "labels": labels}
    plan = replace(plan, counted=tuple(sorted(common)), **more, shortened=shortened, empty=empty)
    plan.save(folder)
    return plan


def cut(text: str, model: "Model", longest: int) -> "tuple[str, Tokens]":
    """The beginning of a text that is at most so many tokens, and that the model has room for.

    Raises:
        ValueError: for a model without a tokenizer.
    """
    if model.tokenizer is None:
        raise ValueError(f"{model.name} has no tokenizer: it cannot read texts")
    return _cut(text, model.tokenizer, min(longest, model.limit))


def _cut(text: str, tokenizer: "Tokenizer", longest: int) -> "tuple[str, Tokens]":
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


def open_shard(folder: Path, number: int) -> list[Text]:
    """The inputs of a shard."""
    return [Text(**each) for each in json.loads(_shard(folder, number).read_text("utf-8"))]


def forget(folder: Path) -> None:
    """Removes what a run needs to go on."""
    for name in ("texts-*", "plan.json", "state.npz"):
        for path in (folder / FOLDER).glob(name):
            path.unlink()
