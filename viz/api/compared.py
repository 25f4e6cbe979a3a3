"""The numbers of a run over a corpus, and beside them those of a second run, head by head."""

from collections.abc import Iterator
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


def numbers(entry: RunEntry) -> Iterator[tuple[dict[str, Any], Any]]:
    """Every number of the heads, described as a `Measure` is, with its values.

    Then those of the second run, and the differences.
    """
    known = {measure.key: measure for measure in measures(entry.run)}
    yield from ((asdict(each), entry.run.heads[key]) for key, each in known.items())
    other = {} if entry.second is None else entry.second.heads
    for key, measure in known.items():
        if key not in other:
            continue
        mine, theirs = entry.run.heads[key], other[key]
        bound = None if measure.high is None else measure.high - measure.low
        there = {"key": twin(measure.key), "title": f"{measure.title} in B"}
        change = {
            "key": f"{measure.key}{CHANGE}",
            "title": f"{measure.title}, B − A",
            "about": f"The difference of two runs. {measure.about}",
            "low": None if bound is None else -bound,
            "high": bound,
        }
        yield asdict(measure) | there, theirs
        yield asdict(measure) | change, theirs - mine


@endpoint("changes", "corpus")
def changes(entry: RunEntry, number: str = "") -> CorpusChanges:
    """The largest differences that their 95 % intervals tell from 0.

    Args:
        entry: of the runs.
        number: the key of one number; "" for all that are shares, from 0 to 1.
    """
    if (other := entry.second) is None:
        return CorpusChanges([], 0, 0)
    shares = (each.key for each in measures(entry.run) if (each.low, each.high) == (0, 1))
    table = entry.answers.once("compared", lambda: entry.run.compare(other))
    rows = table[table["measure"].isin([number] if number else [*shares])]
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


def _largest(entry: RunEntry) -> CorpusChange | None:
    """The largest difference; None where nothing is compared, or nothing differs."""
    every = entry.answers.once("changes", lambda: changes(entry)).changes
    return every[0] if every else None


def first_plot(entry: RunEntry) -> str:
    """The axes of the dots that are shown first: the number that differs most, in both runs."""
    change = _largest(entry)
    return "" if change is None else f"{change.key}.{twin(change.key)}"


def begin(entry: RunEntry) -> dict[str, Any]:
    """The address of the head that is shown first: that with the most of one number, or that
    differs most."""
    heads = entry.run.heads
    if changed := _largest(entry):
        number = entry.number_of(changed.site, changed.head)
    else:
        number = heads[FIRST if FIRST in heads else measures(entry.run)[0].key].idxmax()
    row = heads.loc[number]
    place = {"layer": int(row["layer"]), "head": int(row["head"]), "attention": row["kind"]}
    return place | {"tower": row["tower"] or ""}
