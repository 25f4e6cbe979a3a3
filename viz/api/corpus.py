"""Responses about a run over a corpus: all heads, one head, and heads that are looked for."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from viz.api import compared, runs, samples
from viz.api.compared import measures
from viz.api.endpoint import QuestionError, endpoint, path_of, plain
from viz.api.entries import RunEntry, TraceEntry
from viz.api.registry import Held, registry
from viz.pack import message, thumbs_part
from viz.values import line

if TYPE_CHECKING:
    import pandas as pd

    from analysis.corpus.opened import Run
    from models.model import Model
    from models.trace import Site

MOST_COMPARED = 4  # examples of the second run
LISTED = 10  # heads that a search returns
TOKENS = 12  # tokens and pairs of tokens of a head
MOST_LINKED = 2_000  # characters of a text that a link holds
NO_LINK: Mapping[str, str] = MappingProxyType({})
MOST_RUNS = 3  # of a head, those over the most inputs
SIDE = 16  # cells per side of the mean weights of a head


def hold(
    folder: Path, other: Path | None = None, other_link: Mapping[str, str] = NO_LINK
) -> Held[RunEntry]:
    """The run in a folder, held until its files change.

    Args:
        folder: of the run.
        other: that of a second run that it is compared with.
        other_link: of the second run, the parameters of a link.

    Raises:
        ValueError: for a folder without a run that can be read.
    """
    if other is None:
        return registry.once(("run", str(folder), _stamp(folder)), lambda: opened(folder))
    key = ("runs", str(folder), _stamp(folder), str(other), _stamp(other))
    first, second = hold(folder).value, hold(other).value
    return registry.once(key, lambda: RunEntry(first.run, first.sites, second.run, other_link))


def _stamp(folder: Path) -> int:
    """Changes when the files of a run do."""
    try:
        return (folder / "manifest.json").stat().st_mtime_ns if folder.is_dir() else 0
    except OSError:
        return 0


def opened(folder: Path) -> RunEntry:
    """The run in a folder.

    Raises:
        ValueError: for a folder without a run that can be read.
    """
    from analysis.corpus.opened import open_corpus

    try:
        run = open_corpus(folder)
        return RunEntry(run, _sites(run))
    except (LookupError, TypeError) as error:
        raise ValueError(f"{folder.name}: its tables are not those of a run") from error
    except OSError as error:
        missing = isinstance(error, FileNotFoundError) and not error.filename
        reason = "there is no such folder" if missing else error.strerror or str(error)
        raise ValueError(f"{folder.name or folder}: {reason}") from error


def _sites(run: "Run") -> "tuple[Site, ...]":
    """The attention layers of the heads, which are in order."""
    from models.trace import Site

    rows = run.heads.reset_index().to_dict("records")
    starts = [place for place, row in enumerate(rows) if row["head"] == 0]
    sites = []
    for start, stop in pairwise([*starts, len(rows)]):
        first = rows[start]
        place = first["tower"], first["module"], int(first["part"])
        sites.append(Site(int(first["layer"]), first["kind"], stop - start, SIDE, SIDE, *place))
    return tuple(sites)


# ---- all heads


@endpoint("overview", "corpus")
def overview(entry: RunEntry) -> bytes:
    """What was read, and every number of every head; their mean weights as thumbnails."""
    import numpy as np

    run, other, numbers = entry.run.manifest, entry.other, [*compared.numbers(entry)]
    against = None
    if other is not None:
        named = {"model": other.manifest["model"]["name"], "comparable": entry.second is not None}
        against = named | _read(other)
    base = {
        "model": run["model"]["name"],
        "sites": [*map(asdict, entry.sites)],
        "run": {
            **_read(entry.run),
            "pictures": bool(run["settings"]["pictures"]),
            "tokens": int(run["tokens"]),
            "complete": run["status"] == "complete",
            "pairs": run["settings"].get("pairs"),
            "against": against,
        },
        "numbers": {
            "measures": [measure for measure, _ in numbers],
            "values": {each["key"]: entry.by_site(values.tolist()) for each, values in numbers},
            "reasons": {},
            "sentences": entry.by_site(entry.run.heads["sentence"].tolist()),
        },
    }
    maps = entry.by_site(entry.run.corners.astype(np.float32).reshape(-1, SIDE, SIDE))
    thumbs = [np.concatenate([s, s.mean(0)[None], s.max(0)[None]]) for s in maps]
    return message(base | {"numbers": plain(base["numbers"])}, thumbs=thumbs_part(thumbs))


def _read(run: "Run") -> dict[str, Any]:
    """What a run has read."""
    corpora = [each.get("about") or "" for each in run.manifest["corpora"]]
    return {"corpora": corpora, "texts": int(run.manifest["texts"])}


# ---- one head


@dataclass(frozen=True)
class CorpusMean:
    """A number of a head over a corpus, with its 95 % interval; `holds`: how often it is high."""

    key: str
    count: int
    mean: float
    low: float | None
    high: float | None
    holds: float | None


@dataclass(frozen=True)
class CorpusExample:
    """A query whose strongest weight is in an interval, with its strongest keys.

    Attributes:
        queries: of text, the tokens that attend; `labels`, those attended to.
        grid: of a picture, rows and columns of patches; `prefix`, the tokens before them.
        link: to Explore; None where it cannot be opened from a link.
    """

    least: float
    most: float
    query: int
    keys: list[int]
    strength: float
    weights: list[float]
    queries: list[str] | None
    labels: list[str] | None
    grid: list[int] | None
    prefix: int
    source: str
    link: str | None


@dataclass(frozen=True)
class CorpusToken:
    """A token, or two, and a share or sum of weight."""

    label: str
    value: float


@dataclass(frozen=True)
class CorpusInOther:
    """What the second run has of a head."""

    sentence: str | None
    numbers: list[CorpusMean]
    examples: list[CorpusExample]


@dataclass(frozen=True)
class CorpusHead:
    """Everything that is known of one head; `grid` is where on the pictures its weight lies."""

    sentence: str | None
    link: str | None
    items: int
    numbers: list[CorpusMean]
    grid: list[float] | None
    examples: list[CorpusExample]
    keys: list[CorpusToken]
    queries: list[CorpusToken]
    pairs: list[CorpusToken]
    there: CorpusInOther | None


@endpoint("head", "corpus")
def head(entry: RunEntry, site: int, head: int) -> CorpusHead:
    """Everything that is known of one head."""
    number = entry.number_of(site, head)
    known = entry.run.heads.loc[number]
    (maps,) = entry.run.rows("maps", number)
    return CorpusHead(
        sentence=known["sentence"],
        link=_in_explore(entry, entry.sites[site], head, {}),
        items=int(known["items"]),
        numbers=_means(entry.run, number),
        grid=maps.get("grid"),
        examples=_examples(entry, number),
        keys=_tokens(entry.run, number, "key"),
        queries=_tokens(entry.run, number, "query"),
        pairs=[
            CorpusToken(f"{row['query_label']} → {row['key_label']}", row["weight"])
            for row in entry.run.rows("pairs", number)[:TOKENS]
        ],
        there=_there(entry, number),
    )


def _there(entry: RunEntry, number: int) -> CorpusInOther | None:
    """What the second run has of a head; None without one that has the same heads."""
    if (run := entry.second) is None:
        return None
    strongest = _examples(RunEntry(run, entry.sites), number)[:MOST_COMPARED]
    return CorpusInOther(run.heads.loc[number]["sentence"], _means(run, number), strongest)


def _means(run: "Run", number: int) -> list[CorpusMean]:
    """Every number of a head."""
    rows = {row["measure"]: row for row in run.rows("measures", number)}
    names = ("count", "mean", "low", "high", "holds")
    kept = [each.key for each in measures(run) if each.key in rows]
    return [CorpusMean(key, *(rows[key][name] for name in names)) for key in kept]


def _tokens(run: "Run", number: int, role: str) -> list[CorpusToken]:
    """The tokens with the largest shares of weight."""
    rows = [row for row in run.rows("tokens", number) if row["role"] == role]
    rows.sort(key=lambda row: -row["weight"])
    return [CorpusToken(row["label"], row["share"]) for row in rows[:TOKENS]]


def _examples(entry: RunEntry, number: int) -> list[CorpusExample]:
    """Queries of every interval of strength, the strongest first, with what is around them."""
    import pyarrow as pa
    import pyarrow.compute as pc

    site, head = entry.place_of(number)
    rows = entry.run.rows("examples", number)
    condition = pc.field("text").isin(pa.array({row["text"] for row in rows}, pa.int64()))
    texts = {row["text"]: row for row in entry.run.table("texts").filter(condition).to_pylist()}
    rows.sort(key=lambda row: (-row["from"], row["text"], row["query"]))
    return [_example(entry, entry.sites[site], head, row, texts[row["text"]]) for row in rows]


def _example(
    entry: RunEntry, site: "Site", head: int, row: dict[str, Any], text: dict[str, Any]
) -> CorpusExample:
    target, given = text["target_labels"], _input(text)
    queries = target if site.kind == "cross" or site.tower == "decoder" else text["labels"]
    at = {**(given or {}), "token": row["query"]}
    return CorpusExample(
        least=row["from"],
        most=row["to"],
        **{name: row[name] for name in ("query", "keys", "strength", "weights")},
        queries=queries,
        labels=text["labels"] if site.kind == "cross" else queries,
        grid=text["grid"],
        prefix=text["prefix"] or 0,
        source=text["source"],
        link=None if given is None else _in_explore(entry, site, head, at),
    )


def _in_explore(
    entry: RunEntry, site: "Site", head: int, parameters: Mapping[str, Any]
) -> str | None:
    """The link to a head in Explore; None where its model is not in a link."""
    from models.catalogue import catalogue

    title = entry.run.manifest["model"]["name"]
    model = next((each.name for each in catalogue() if each.title == title), None)
    if model is None:
        return None
    place = {"layer": site.layer, "attention": site.kind, "head": head, "tower": site.tower}
    return "./" + path_of("", model=model, **place, **parameters)


def _input(text: dict[str, Any]) -> dict[str, str] | None:
    """The parameters of a link that hold an input; None for one that no link holds."""
    if text["grid"] is not None:
        named = {path.name: name for name, path in samples.PHOTOS.items()}
        return {"photo": named[text["source"]]} if text["source"] in named else None
    if len(text["content"]) > MOST_LINKED:
        return None
    letters = (text["target_labels"] or [])[1:]
    target = "" if any(len(label) > 1 for label in letters) else "".join(letters)
    return {"input": text["content"]} | ({"target": target} if target else {})


# ---- heads that are looked for


@dataclass(frozen=True)
class CorpusFound:
    """A head, and how much of what was looked for it has."""

    site: int
    head: int
    value: float


@dataclass(frozen=True)
class CorpusLinked:
    """A head of the second run, with the link to its page."""

    name: str
    link: str | None
    value: float


@dataclass(frozen=True)
class CorpusHeads:
    """Heads in order; `there`, those of the second run, where there is one."""

    heads: list[CorpusFound]
    there: list[CorpusLinked] | None = None


@endpoint("alike", "corpus")
def alike(entry: RunEntry, site: int, head: int) -> CorpusHeads:
    """The heads of both runs that are most like one."""
    number = entry.number_of(site, head)
    mine = entry.run.like_head(number, LISTED)
    there = None
    if entry.other is not None:
        other = entry.other.like_head(number, LISTED, of=entry.run)
        there = [_linked(entry, row) for row in other.to_dict("records")]
    return CorpusHeads(_matching(entry, mine, "likeness"), there)


def _linked(entry: RunEntry, row: Mapping[str, Any]) -> CorpusLinked:
    place = {"layer": int(row["layer"]), "attention": row["kind"], "tower": row["tower"]}
    link = "./" + path_of("corpus", **entry.other_link, **place, head=int(row["head"]))
    return CorpusLinked(
        f"layer {int(row['layer'])} · head {int(row['head'])}", link, row["likeness"]
    )


@endpoint("attending", "corpus", key=line(400), query=line(400))
def attending(entry: RunEntry, key: str = "", query: str = "") -> CorpusHeads:
    """The heads that give the largest share of their weight to some tokens, from some, or both."""
    try:
        heads = entry.run.attending_to(key, LISTED, query=query)
    except ValueError as error:
        raise QuestionError(str(error)) from error
    return CorpusHeads(_matching(entry, heads, "share"))


def _matching(entry: RunEntry, heads: "pd.DataFrame", column: str) -> list[CorpusFound]:
    rows = zip(heads["id"], heads[column], strict=True)
    return [CorpusFound(*entry.place_of(int(n)), value) for n, value in rows]


# ---- of a traced model: what its heads do over corpora, from the runs of the same weights


@dataclass(frozen=True)
class CorpusLine:
    """What a head does over one corpus, with the link to its page."""

    sentence: str
    link: str


@dataclass(frozen=True)
class Corpora:
    """What a head does over those that its model has read."""

    corpora: list[CorpusLine]


@endpoint("corpora")
def corpora(entry: TraceEntry, site: int, head: int) -> Corpora:
    """A head's sentence over each corpus that was read by a model with the same weights."""
    known = entry.answers.once("corpora", lambda: _runs(entry))
    where = entry.view.sites[site].where
    lines = [_line(name, run, where, head) for name, run in known]
    return Corpora([line for line in lines if line is not None][:MOST_RUNS])


def _runs(entry: TraceEntry) -> list[tuple[str, RunEntry]]:
    """The runs of the same weights with what a link calls them, the largest first."""
    if entry.opened is None or not entry.trace.trained:
        return []
    model = entry.opened()[0]
    entries = []
    for name, folder in runs.folders().items():
        if _is_of(model, folder):
            with suppress(ValueError):  # its page says what is wrong
                entries.append((name, hold(folder).value))
    return sorted(entries, key=lambda each: -each[1].run.manifest["texts"])


def _is_of(model: "Model", folder: Path) -> bool:
    """Whether a run was made by these weights; they are read only if the name is the same."""
    from analysis.corpus.files import manifest_of

    try:
        described = manifest_of(folder)["model"]
    except (OSError, ValueError):
        return False
    return described["name"] == model.name and described["digest"] == model.digest


def _line(name: str, run: RunEntry, where: Any, head: int) -> CorpusLine | None:
    """A head's sentence in one run; None where it has none."""
    address = (where.layer, where.kind, where.tower, where.part or 0)
    for number, site in enumerate(run.sites):
        if (site.layer, site.kind, site.tower, site.part) == address and head < site.heads:
            sentence = run.run.heads.loc[run.number_of(number, head)]["sentence"]
            place = {"layer": site.layer, "attention": site.kind, "tower": site.tower}
            link = "./" + path_of("corpus", run=name, **place, head=head)
            return CorpusLine(sentence, link) if sentence else None
    return None
