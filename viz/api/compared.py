"""Two runs over a corpus, head by head: their numbers side by side, and what differs most."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from viz.api.entries import RunEntry
from viz.api.run_numbers import exact, measures, place_of

if TYPE_CHECKING:
    from analysis.corpus import Run
    from analysis.measures import Measure

THERE = " in B"  # after the key of a number: that of the second run
CHANGE = " B - A"  # and its difference
LISTED = 24  # changes that are listed


def twin(key: str) -> str:
    """The key of the same number in the second run."""
    return f"{key}{THERE}"


def comparable(run: "Run", other: "Run") -> bool:
    """Whether two runs have the same heads, by their addresses."""
    from analysis.corpus.opened import ADDRESS

    mine, theirs = (each.heads[ADDRESS].fillna("").reset_index() for each in (run, other))
    return mine.equals(theirs)


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
    if entry.other is None or not comparable(entry.run, entry.other):
        return {}
    added = {}
    for measure in run_measures:
        if measure.key not in entry.other.heads:
            continue
        mine, theirs = (run.heads[measure.key] for run in (entry.run, entry.other))
        described = asdict(measure)
        bound = None if measure.high is None else measure.high - measure.low
        named = {"key": twin(measure.key), "title": f"{measure.title} in B"}
        added[twin(measure.key)] = {"measure": described | named, "values": theirs.tolist()}
        change = {
            "key": f"{measure.key}{CHANGE}",
            "title": f"{measure.title}, B − A",
            "about": f"The difference of two runs. {measure.about}",
            "low": None if bound is None else -bound,
            "high": bound,
        }
        added[change["key"]] = {
            "measure": described | change,
            "values": (theirs - mine).tolist(),
        }
    return added


def changes(entry: RunEntry, number: str = "") -> dict[str, Any]:
    """The largest differences that their 95 % intervals tell from 0.

    Args:
        entry: of the runs.
        number: the key of one number; "" for all that are shares, from 0 to 1.
    """
    if entry.other is None or not comparable(entry.run, entry.other):
        return {"changes": [], "certain": 0, "of": 0}
    known = {each.key: each for each in measures(entry.run)}
    keys = [number] if number else [k for k, m in known.items() if (m.low, m.high) == (0, 1)]
    table = entry.answers.once("compared", lambda: entry.run.compare(entry.second))
    rows = table[table["measure"].isin(keys)]
    certain = rows[(rows["low"] > 0) | (rows["high"] < 0)]
    order = certain["difference"].abs().sort_values(ascending=False, kind="stable").index
    chosen = certain.loc[order[:LISTED]]
    return {
        "changes": [
            {"key": row["measure"]}
            | place_of(entry, int(row["id_here"]))
            | {
                name: exact(row[column])
                for name, column in (
                    ("here", "mean_here"),
                    ("there", "mean_there"),
                    *((each, each) for each in ("low", "high")),
                )
            }
            | {"mean": exact(row["difference"])}
            for row in chosen.to_dict("records")
        ],
        "certain": len(certain),
        "of": len(rows),
    }


def largest(entry: RunEntry) -> dict[str, Any] | None:
    """The largest difference; None where nothing is compared, or nothing differs."""
    if entry.other is None:
        return None
    every = entry.answers.once("changes", lambda: changes(entry, ""))["changes"]
    return every[0] if every else None


def first_plot(entry: RunEntry) -> str:
    """The axes of the dots that are shown first: the number that differs most, in both runs."""
    change = largest(entry)
    if change is None:
        return ""
    return ".".join((change["key"], twin(change["key"])))
