"""The numbers of a run over a corpus, and beside them those of a second run, head by head."""

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from viz.api.endpoint import endpoint
from viz.api.entries import RunEntry

if TYPE_CHECKING:
    from analysis.corpus.opened import Run
    from analysis.measures import Measure

THERE = " in B"  # after the key of a number: that of the second run
CHANGE = " B - A"  # and its difference
LISTED = 24  # changes that are listed
FIRST = "previous token"  # the head with the most of it is shown first
COLUMNS = ("mean_here", "mean_there", "difference", "low", "high")


@dataclass(frozen=True)
class CorpusChange:
    """A number of a head in both runs, and the difference with its 95 % interval."""

    key: str
    site: int
    head: int
    here: float
    there: float
    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class CorpusChanges:
    """The largest differences first; how many are certain, of how many numbers."""

    changes: list[CorpusChange]
    certain: int
    of: int


def measures(run: "Run") -> "list[Measure]":
    """The numbers that a run has of its heads, in the order of their declaration."""
    from analysis.measures import MEASURES, PICTURE_MEASURES

    heads = run.heads
    known = (*MEASURES, *PICTURE_MEASURES)
    return [each for each in known if each.key in heads and heads[each.key].notna().any()]


def twin(key: str) -> str:
    """The key of the same number in the second run."""
    return f"{key}{THERE}"


def comparable(run: "Run", other: "Run") -> bool:
    """Whether two runs have the same heads, by their addresses."""
    from analysis.corpus.opened import ADDRESS

    mine, theirs = (each.heads[ADDRESS].fillna("").reset_index() for each in (run, other))
    return mine.equals(theirs)


def second_of(entry: RunEntry) -> "Run | None":
    """The second run, if there is one and it has the same heads."""
    other = entry.other
    return other if other is not None and comparable(entry.run, other) else None


def about(entry: RunEntry) -> dict[str, Any] | None:
    """What the second run is; None without one."""
    if entry.other is None:
        return None
    manifest = entry.other.manifest
    return {
        "model": manifest["model"]["name"],
        "corpora": [each.get("about") or "" for each in manifest["corpora"]],
        "texts": int(manifest["texts"]),
        "comparable": comparable(entry.run, entry.other),
    }


def numbers(entry: RunEntry, run_measures: "list[Measure]") -> dict[str, dict[str, Any]]:
    """The numbers of the second run and their differences, as measures with their values."""
    if (other := second_of(entry)) is None:
        return {}
    added = {}
    for measure in run_measures:
        if measure.key not in other.heads:
            continue
        mine, theirs = (run.heads[measure.key] for run in (entry.run, other))
        bound = None if measure.high is None else measure.high - measure.low
        there = {"key": twin(measure.key), "title": f"{measure.title} in B"}
        change = {
            "key": f"{measure.key}{CHANGE}",
            "title": f"{measure.title}, B − A",
            "about": f"The difference of two runs. {measure.about}",
            "low": None if bound is None else -bound,
            "high": bound,
        }
        for named, values in ((there, theirs), (change, theirs - mine)):
            described = asdict(measure) | named
            added[named["key"]] = {"measure": described, "values": values.tolist()}
    return added


@endpoint("changes", "corpus")
def changes(entry: RunEntry, number: str = "") -> CorpusChanges:
    """The largest differences that their 95 % intervals tell from 0.

    Args:
        entry: of the runs.
        number: the key of one number; "" for all that are shares, from 0 to 1.
    """
    if (other := second_of(entry)) is None:
        return CorpusChanges([], 0, 0)
    known = {each.key: each for each in measures(entry.run)}
    keys = [number] if number else [k for k, m in known.items() if (m.low, m.high) == (0, 1)]
    table = entry.answers.once("compared", lambda: entry.run.compare(other))
    rows = table[table["measure"].isin(keys)]
    certain = rows[(rows["low"] > 0) | (rows["high"] < 0)]
    order = certain["difference"].abs().sort_values(ascending=False, kind="stable").index
    listed = [
        CorpusChange(
            row["measure"],
            *entry.place_of(int(row["id_here"])),
            *(row[column] for column in COLUMNS),
        )
        for row in certain.loc[order[:LISTED]].to_dict("records")
    ]
    return CorpusChanges(listed, len(certain), len(rows))


def largest(entry: RunEntry) -> CorpusChange | None:
    """The largest difference; None where nothing is compared, or nothing differs."""
    every = entry.answers.once("changes", lambda: changes(entry)).changes
    return every[0] if every else None


def first_plot(entry: RunEntry) -> str:
    """The axes of the dots that are shown first: the number that differs most, in both runs."""
    change = largest(entry)
    return "" if change is None else f"{change.key}.{twin(change.key)}"


def begin(entry: RunEntry) -> dict[str, Any]:
    """The address of the head that is shown first: that with the most of one number, or that
    differs most."""
    heads = entry.run.heads
    if changed := largest(entry):
        number = entry.number_of(changed.site, changed.head)
    else:
        number = heads[FIRST if FIRST in heads else measures(entry.run)[0].key].idxmax()
    row = heads.loc[number]
    place = {"layer": int(row["layer"]), "head": int(row["head"]), "attention": row["kind"]}
    return place | {"tower": row["tower"] or ""}
