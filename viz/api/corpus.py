"""Responses about a run over a corpus: all heads, one head, and heads that are looked for."""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from viz.api import compared, samples
from viz.api.compared import exact, measures, place_of
from viz.api.endpoint import path_of
from viz.api.entries import HeadSite, RunEntry
from viz.api.registry import Held, registry
from viz.api.requests import QuestionError, sentence
from viz.pack import Part, message, thumbs_part

if TYPE_CHECKING:
    import pyarrow as pa

    from analysis.corpus import Run

MOST_COMPARED = 4  # examples of the second run
LISTED = 10  # heads that a search returns
TOKENS = 12  # tokens and pairs of tokens of a head
MOST_LINKED = 2_000  # characters of a text that a link holds
NO_LINK: Mapping[str, str] = MappingProxyType({})
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
    from analysis.corpus import open_corpus

    try:
        run = open_corpus(folder)
        return RunEntry(run, _sites(run))
    except (LookupError, TypeError) as error:
        raise ValueError(f"{folder.name}: its tables are not those of a run") from error
    except OSError as error:
        missing = isinstance(error, FileNotFoundError) and not error.filename
        reason = "there is no such folder" if missing else error.strerror or str(error)
        raise ValueError(f"{folder.name or folder}: {reason}") from error


def _sites(run: "Run") -> tuple[HeadSite, ...]:
    """The attention layers of the heads, which are in order."""
    names = ("layer", "kind", "tower", "module", "part")
    heads: dict[tuple[Any, ...], list[int]] = {}
    first = 0
    for row in run.heads.reset_index().to_dict("records"):
        first += row["head"] == 0  # two calls of a module may have equal names
        heads.setdefault((first, *(row[name] for name in names)), []).append(int(row["id"]))
    return tuple(
        HeadSite(int(layer), kind, tower, module, int(part), len(ids), ids[0])
        for (_, layer, kind, tower, module, part), ids in heads.items()
    )


# ---- all heads


def overview(entry: RunEntry) -> bytes:
    """What was read, and every number of every head; their mean weights as thumbnails."""
    run = entry.run
    base = {
        "model": run.manifest["model"]["name"],
        "sites": [_site(each) for each in entry.sites],
        "run": {
            "corpora": [each.get("about") or "" for each in run.manifest["corpora"]],
            "pictures": bool(run.manifest["settings"]["pictures"]),
            "texts": int(run.manifest["texts"]),
            "tokens": int(run.manifest["tokens"]),
            "complete": run.manifest["status"] == "complete",
            "pairs": run.manifest["settings"].get("pairs"),
            "against": compared.about(entry),
        },
        "numbers": _numbers(entry),
    }
    return message(base, thumbs=_thumbs(entry))


def _site(site: HeadSite) -> dict[str, Any]:
    """A layer as the views know it; its mean maps have so many cells."""
    held = asdict(site)
    del held["first"]
    return held | {"queries": SIDE, "keys": SIDE}


def _thumbs(entry: RunEntry) -> Part:
    import numpy as np

    maps = np.nan_to_num(entry.run.maps["corner"]).astype(np.float32)
    sites = [maps[each.first : each.first + each.heads] for each in entry.sites]
    return thumbs_part([np.concatenate([s, s.mean(0)[None], s.max(0)[None]]) for s in sites])


def _rounded(number: float) -> float | None:
    """A number for JSON, to six decimals."""
    return round(number, 6) if math.isfinite(number) else None


def _numbers(entry: RunEntry) -> dict[str, Any]:
    heads, run_measures = entry.run.heads, measures(entry.run)
    more = compared.numbers(entry, run_measures)
    values = {measure.key: heads[measure.key].tolist() for measure in run_measures}
    values |= {key: each["values"] for key, each in more.items()}
    return {
        "measures": [
            *(asdict(measure) for measure in run_measures),
            *(each["measure"] for each in more.values()),
        ],
        "values": {key: _by_site(entry, each, _rounded) for key, each in values.items()},
        "reasons": {},
        "sentences": _by_site(entry, heads["sentence"].tolist(), lambda said: said or None),
    }


def _by_site(
    entry: RunEntry, values: list[Any], held: Callable[[Any], Any]
) -> list[list[float | str | None]]:
    return [
        [held(value) for value in values[each.first : each.first + each.heads]]
        for each in entry.sites
    ]


# ---- one head


def head(entry: RunEntry, site: int, head: int) -> dict[str, Any]:
    """Everything that is known of one head."""
    number = number_of(entry, site, head)
    known = entry.run.heads.loc[number]
    return {
        "sentence": known["sentence"] or None,
        "link": _in_explore(entry, entry.sites[site], head, {}),
        "items": int(known["items"]),
        "queries": int(known["queries"]),
        "numbers": means_of(entry, number),
        "histograms": _histograms(entry, number),
        "distances": _distances(entry, number),
        "grid": _grid(entry, number),
        "examples": _examples(entry, number),
        "tokens": {role: _tokens(entry, number, role) for role in ("key", "query")},
        "pairs": _pairs(entry, number),
        "there": _there(entry, number),
    }


def _there(entry: RunEntry, number: int) -> dict[str, Any] | None:
    """What the second run has of a head; None without one that has the same heads."""
    if entry.other is None or not compared.comparable(entry.run, entry.other):
        return None
    other = entry.answers.once("other", lambda: RunEntry(entry.second, entry.sites))
    strongest = _examples(other, number)[:MOST_COMPARED]
    return {
        "sentence": other.run.heads.loc[number]["sentence"] or None,
        "numbers": means_of(other, number),
        "examples": strongest,
    }


def number_of(entry: RunEntry, site: int, head: int) -> int:
    """The number of a head in the tables.

    Raises:
        QuestionError: if there is none.
    """
    if site >= len(entry.sites):
        raise QuestionError(f"expected site 0 to {len(entry.sites) - 1}")
    if head >= entry.sites[site].heads:
        raise QuestionError(f"expected head 0 to {entry.sites[site].heads - 1}")
    return entry.sites[site].first + head


def _table(entry: RunEntry, name: str) -> "pa.Table":
    return entry.answers.once(("table", name), lambda: entry.run.table(name))


def _of_head(entry: RunEntry, name: str, number: int) -> list[dict[str, Any]]:
    """The rows of a head in a table."""
    import pyarrow.compute as pc

    return _table(entry, name).filter(pc.field("id") == number).to_pylist()


def means_of(entry: RunEntry, number: int) -> list[dict[str, Any]]:
    """Every number of a head: key, count, mean, 95 % interval, and how often it holds."""
    rows_by_measure = {row["measure"]: row for row in _of_head(entry, "measures", number)}
    kept = (rows_by_measure[m.key] for m in measures(entry.run) if m.key in rows_by_measure)
    names = ("mean", "low", "high", "holds")
    return [
        {"key": row["measure"], "count": row["count"]} | {name: exact(row[name]) for name in names}
        for row in kept
    ]


def _histograms(entry: RunEntry, number: int) -> dict[str, dict[str, list[Any]]]:
    """For each measure the bins that any head has, with the counts of this head and of all."""
    rows = _of_head(entry, "histograms", number)
    counts = {(row["measure"], row["from"]): row["count"] for row in rows}
    summed = _summed(entry, "histograms", ("measure", "from", "to"), "count")
    histograms: dict[str, dict[str, list[Any]]] = {}
    for (key, start, end), total in sorted(summed):
        bins = histograms.setdefault(key, {"from": [], "to": [], "head": [], "all": []})
        for name, value in zip(bins, (start, end, counts.get((key, start), 0), total), strict=True):
            bins[name].append(value)
    return histograms


def _distances(entry: RunEntry, number: int) -> list[dict[str, Any]]:
    """The share of weight at each distance, of this head and as the mean of those that have any."""
    rows = _of_head(entry, "distances", number)
    shares = {(row["side"], row["from"]): row["share"] for row in rows}
    if not rows:
        return []
    heads = len(set(_table(entry, "distances")["id"].to_pylist()))
    summed = _summed(entry, "distances", ("side", "from", "to"), "share")
    return [
        {"side": side, "from": first, "to": last, "all": total / heads}
        | {"share": shares.get((side, first), 0.0)}
        for (side, first, last), total in sorted(summed, key=lambda e: e[0][0] * (e[0][1] + 1))
    ]


def _summed(
    entry: RunEntry, name: str, by: tuple[str, str, str], column: str
) -> list[tuple[tuple[Any, ...], Any]]:
    """The sums of a column of a table over all heads, by the values of other columns."""

    def add() -> list[tuple[tuple[Any, ...], Any]]:
        sums = _table(entry, name).group_by(list(by)).aggregate([(column, "sum")]).to_pylist()
        return [(tuple(row[each] for each in by), row[f"{column}_sum"]) for row in sums]

    return entry.answers.once(("summed", name), add)


def _grid(entry: RunEntry, number: int) -> list[float | None] | None:
    """The share of the weight on each part of the pictures, row by row; None for texts."""
    shares = _of_head(entry, "maps", number)[0].get("grid")
    return None if shares is None else [exact(share) for share in shares]


def _tokens(entry: RunEntry, number: int, role: str) -> list[dict[str, Any]]:
    """The tokens with the largest sums of weight."""
    rows = [row for row in _of_head(entry, "tokens", number) if row["role"] == role]
    rows.sort(key=lambda row: -row["weight"])
    return [
        {"label": row["label"], "share": exact(row["share"]), "count": row["count"]}
        | {"mean": exact(row["mean"])}
        for row in rows[:TOKENS]
    ]


def _pairs(entry: RunEntry, number: int) -> list[dict[str, Any]]:
    """The pairs of tokens with the largest sums of weight."""
    return [
        {"query": row["query_label"], "key": row["key_label"]}
        | {"count": row["count"], "weight": exact(row["weight"])}
        for row in _of_head(entry, "pairs", number)[:TOKENS]
    ]


# ---- examples


def _examples(entry: RunEntry, number: int) -> list[dict[str, Any]]:
    """Queries of every interval of strength, the strongest first, with what is around them."""
    import pyarrow as pa
    import pyarrow.compute as pc

    site = next(each for each in reversed(entry.sites) if each.first <= number)
    rows = _of_head(entry, "examples", number)
    wanted = pa.array({row["text"] for row in rows}, pa.int64())
    chosen = _table(entry, "texts").filter(pc.field("text").isin(wanted))
    texts = {row["text"]: row for row in chosen.to_pylist()}
    rows.sort(key=lambda row: (-row["from"], row["text"], row["query"]))
    return [_example(entry, site, number, row, texts[row["text"]]) for row in rows]


def _example(
    entry: RunEntry, site: HeadSite, number: int, row: dict[str, Any], text: dict[str, Any]
) -> dict[str, Any]:
    target = text["target_labels"]
    queries = target if site.kind == "cross" or site.tower == "decoder" else text["labels"]
    keys = text["labels"] if site.kind == "cross" else queries
    return {
        **{name: row[name] for name in ("from", "to", "query", "keys")},
        "strength": exact(row["strength"]),
        "weights": [exact(weight) for weight in row["weights"]],
        "queries": queries,
        "labels": keys,
        "grid": text["grid"],
        "prefix": text["prefix"] or 0,
        "source": text["source"],
        "link": _link(entry, site, number - site.first, row, text),
    }


def _link(
    entry: RunEntry, site: HeadSite, head: int, row: dict[str, Any], text: dict[str, Any]
) -> str | None:
    """The link to the example in Explore; None where its model or input is not in a link."""
    given = _input(text)
    if given is None:
        return None
    return _in_explore(entry, site, head, given | {"token": row["query"]})


def _in_explore(
    entry: RunEntry, site: HeadSite, head: int, parameters: Mapping[str, Any]
) -> str | None:
    """The link to a head in Explore; None where its model is not in a link."""
    model = _catalogued().get(entry.run.manifest["model"]["name"])
    if model is None:
        return None
    place = {"layer": site.layer, "attention": site.kind, "head": head, "tower": site.tower}
    return "./" + path_of("", model=model, **place, **parameters)


def _input(text: dict[str, Any]) -> dict[str, str] | None:
    """The parameters of a link that hold an input."""
    if text["grid"] is not None:
        named = {f"{path.name}": name for name, path in samples.PHOTOS.items()}
        return {"photo": named[text["source"]]} if text["source"] in named else None
    if len(text["content"]) > MOST_LINKED:
        return None
    target = text["target_labels"]
    if target is None:
        return {"input": text["content"]}
    letters = target[1:]
    if any(len(label) > 1 for label in letters):
        return {"input": text["content"]}
    return {"input": text["content"], "target": "".join(letters)}


def _catalogued() -> dict[str, str]:
    """The models of the list, by what their runs call them."""
    from models.catalogue import catalogue

    return {each.title: each.name for each in catalogue()}


# ---- heads that are looked for


def alike(entry: RunEntry, site: int, head: int) -> dict[str, Any]:
    """The heads of the run that are most like one."""
    import numpy as np

    number = number_of(entry, site, head)
    likeness = entry.run.likenesses(number)
    order = np.argsort(-likeness, kind="stable")
    chosen = [int(each) for each in order if each != number][:LISTED]
    answer = {"heads": [_head_value(entry, each, likeness[each]) for each in chosen]}
    return answer if entry.other is None else answer | {"there": _alike_there(entry, number)}


def _alike_there(entry: RunEntry, number: int) -> list[dict[str, Any]]:
    """The heads of the second run that are most like one, with links to their pages."""
    import numpy as np

    other = entry.second
    likeness = other.likenesses(number, of=entry.run)
    order = np.argsort(-likeness, kind="stable")[:LISTED]
    return [_other_head(entry, other, int(each), float(likeness[each])) for each in order]


def _other_head(entry: RunEntry, other: "Run", number: int, value: float) -> dict[str, Any]:
    row = other.heads.loc[number]
    place = {"layer": int(row["layer"]), "attention": row["kind"], "tower": row["tower"]}
    link = "./" + path_of("corpus", **entry.other_link, **place, head=int(row["head"]))
    name = f"layer {int(row['layer'])} · head {int(row['head'])}"
    return {"name": name, "link": link, "value": exact(value)}


def attending(entry: RunEntry, key: str = "", query: str = "") -> dict[str, Any]:
    """The heads that give the largest share of their weight to some tokens, from some, or both."""
    try:
        heads = entry.run.attending_to(key, LISTED, query=query)
    except ValueError as error:
        raise QuestionError(str(error)) from error
    pairs: Iterable[tuple[Any, Any]] = zip(heads["id"], heads["share"], strict=True)
    return {"heads": [_head_value(entry, int(number), value) for number, value in pairs]}


def _head_value(entry: RunEntry, number: int, value: float) -> dict[str, Any]:
    return place_of(entry, number) | {"value": exact(value)}


class TokenList:
    """Parses tokens of the user's, separated by commas, without control characters."""

    longest = 400

    def __call__(self, text: str) -> str:
        line = sentence(text).strip()
        if not 1 <= len(line) <= self.longest:
            raise QuestionError(f"expected 1 to {self.longest} characters")
        return line


token_list = TokenList()
