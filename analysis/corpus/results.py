"""Writes what a run found as Parquet files that any tool reads, a table each.

heads       one row a head: address, how much was read, a sentence, scores of its matrices
measures    head × number: count, mean, variance, 95 % interval, share of texts at 0.4 or more
histograms  head × number × bin
distances   head × distance: share of the weight
positions   head × position: what keys there draw; entropy and strength of queries there
maps        head: mean weights of the first 16 tokens, and of whole texts on a 16 × 16 grid
examples    head × interval of strength: queries with their strongest keys
texts       the texts of the examples, with their tokens
tokens      head: keys that draw most, queries that give most
pairs       head: query and key tokens, of sampled queries with their strongest plain key
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from analysis.corpus.claims import claim
from analysis.corpus.files import write_table
from analysis.corpus.intervals import interval
from analysis.corpus.plan import Plan
from analysis.corpus.samples import NONE
from analysis.corpus.scales import (
    BINS,
    OF_WEIGHTS,
    STRENGTHS,
    bin_ranges,
    edges,
    measures,
)
from analysis.corpus.state import State
from analysis.descriptions import MOST

if TYPE_CHECKING:
    import pyarrow as pa

LISTED = 32  # tokens of each head, by each order
OFTEN = 5  # occurrences from which the mean of a token counts
NAMES = (
    "heads",
    "measures",
    "histograms",
    "distances",
    "positions",
    "maps",
    "examples",
    "texts",
    "tokens",
    "pairs",
)


def write_results(
    folder: Path, plan: Plan, state: State, scores: "pa.Table", trained: bool
) -> None:
    """Writes every table of a run.

    Args:
        folder: of the run.
        plan: of the run.
        state: what was read.
        scores: of the weight matrices of each head.
        trained: False for a network with random weights, whose heads get no sentence.
    """
    if "items" not in state.sums.counts:
        return
    statistics = moments(plan, state)
    tables = {
        "heads": _heads(plan, state, scores, statistics, trained),
        "measures": _columns(statistics),
        "histograms": _histograms(plan, state),
        "distances": _distances(state),
        "positions": _positions(state),
        "maps": _maps(plan, state),
        "examples": _examples(state),
        "texts": _texts(state),
        "tokens": _tokens(plan, state),
        "pairs": _pairs(plan, state),
    }
    for name, table in tables.items():
        write_table(folder / f"{name}.parquet", table)


def _columns(columns: Mapping[str, Any]) -> "pa.Table":
    import pyarrow as pa

    return pa.table({name: pa.array(values) for name, values in columns.items()})


def moments(plan: Plan, state: State) -> dict[str, Any]:
    """Mean, variance and interval of every number of every head, where it is defined."""
    sums = state.sums
    count = sums.counts["count"]
    total, square = (
        sums.high[name].astype(np.longdouble) + sums.low[name] for name in ("sum", "square")
    )
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = total / count
        variance = np.maximum(square - total * mean, 0.0) / (count - 1)
    numbers = measures(plan.settings.pictures)
    ends = np.full((2, *count.shape), np.nan)
    holds = np.full(count.shape, np.nan)
    for column, measure in enumerate(numbers):
        share = measure.high == 1.0 and measure.low == 0.0
        with np.errstate(invalid="ignore", divide="ignore"):
            of_heads = (each[:, column] for each in (mean, variance, count))
            ends[..., column] = interval(*of_heads, share=share)
        if share:
            high = edges(measure)[:-1] >= MOST - 1e-9
            reached = sums.counts["histogram"][:, column, : len(high)][:, high].sum(-1)
            holds[:, column] = reached / np.maximum(count[:, column], 1)
    head, column = np.nonzero(count)
    at = head, column
    return {
        "id": head,
        "measure": [numbers[each].key for each in column],
        "count": count[at],
        "mean": mean[at].astype(float),
        "variance": variance[at].astype(float),
        "low": ends[0][at],
        "high": ends[1][at],
        "holds": holds[at],
    }


def _heads(
    plan: Plan, state: State, scores: "pa.Table", measures: Mapping[str, Any], trained: bool
) -> "pa.Table":
    by_head: dict[int, dict[str, Any]] = {}
    columns = ("id", "measure", "count", "mean", "low", "high", "holds")
    for row in zip(*(measures[name] for name in columns), strict=True):
        by_head.setdefault(int(row[0]), {})[row[1]] = dict(zip(columns[2:], row[2:], strict=True))
    rows: dict[str, list[Any]] = {}
    for place in plan.layout.places:
        for head in range(place.heads):
            number = place.first + head
            said = claim(by_head.get(number, {}), pictures=plan.settings.pictures)
            row = {
                "id": number,
                "layer": place.where.layer,
                "head": head,
                "kind": place.where.kind,
                "tower": place.where.tower,
                "module": place.where.module,
                "part": place.where.part or 0,
                "items": int(state.sums.counts["items"][number]),
                "queries": int(state.sums.counts["queries"][number]),
                "sentence": said if trained else None,
            }
            for name, value in row.items():
                rows.setdefault(name, []).append(value)
    return _columns(rows | {key: scores[key].to_pylist() for key in OF_WEIGHTS})


def _histograms(plan: Plan, state: State) -> "pa.Table":
    counts = state.sums.counts["histogram"]
    head, column, bin_ = counts.nonzero()
    numbers = measures(plan.settings.pictures)
    limits = [edges(measure) for measure in numbers]
    return _columns(
        {
            "id": head,
            "measure": [numbers[each].key for each in column],
            "from": [limits[c][b] for c, b in zip(column, bin_, strict=True)],
            "to": [limits[c][b + 1] for c, b in zip(column, bin_, strict=True)],
            "count": counts[head, column, bin_],
        }
    )


def _distances(state: State) -> "pa.Table":
    sums = state.sums.total("distance")
    ranges = bin_ranges()
    head, bin_ = sums.nonzero()
    size = [ranges[abs(each - BINS + 1)] for each in bin_]
    queries = np.maximum(state.sums.counts["queries"], 1)
    return _columns(
        {
            "id": head,
            "side": np.sign(bin_ - BINS + 1),
            "from": [each[0] for each in size],
            "to": [each[1] for each in size],
            "share": sums[head, bin_] / queries[head],
        }
    )


def _positions(state: State) -> "pa.Table":
    sums, counts = state.sums, state.sums.counts
    seen, queries = counts["seen by position"], counts["queries by position"]
    head, bin_ = (seen + queries).nonzero()
    at = head, bin_
    with np.errstate(invalid="ignore"):
        drawn = (sums.total("drawn by position") / seen)[at]
        entropy, strength = (
            (sums.total(f"{name} by position") / queries)[at] for name in ("entropy", "strength")
        )
    ranges = bin_ranges()
    return _columns(
        {
            "id": head,
            "from": [ranges[each][0] for each in bin_],
            "to": [ranges[each][1] for each in bin_],
            "queries": queries[at],
            "entropy": entropy,
            "strength": strength,
            "pairs": seen[at],
            "weight": drawn,
        }
    )


def _maps(plan: Plan, state: State) -> "pa.Table":
    sums, counts = state.sums, state.sums.counts
    with np.errstate(invalid="ignore"):
        corner = sums.total("corner") / counts["corner"]
        whole = sums.total("whole") / counts["items"][:, None, None]
    heads = range(plan.layout.heads)
    rows: dict[str, Any] = {"id": list(heads)}
    rows["corner"] = [each.astype(np.float32).ravel() for each in corner]
    rows["whole"] = [each.astype(np.float32).ravel() for each in whole]
    if plan.settings.pictures:
        grid = sums.total("grid") / np.maximum(counts["queries"], 1)[:, None]
        rows["grid"] = [each.astype(np.float32) for each in grid]
    return _columns(rows)


def _examples(state: State) -> "pa.Table":
    import pyarrow as pa

    kept_examples = state.examples
    head, interval, place = (kept_examples.number != NONE).nonzero()
    at = head, interval, place
    used = [keys >= 0 for keys in kept_examples.keys[at]]
    ends = [*STRENGTHS[1:], 1.0]
    table = {
        "id": head,
        "from": STRENGTHS[interval],
        "to": [ends[each] for each in interval],
        "text": kept_examples.text[at],
        "query": kept_examples.query[at],
        "strength": kept_examples.strength[at],
        "keys": pa.array(
            [keys[kept] for keys, kept in zip(kept_examples.keys[at], used, strict=True)],
            pa.list_(pa.int32()),
        ),
        "weights": pa.array(
            [weights[kept] for weights, kept in zip(kept_examples.weights[at], used, strict=True)],
            pa.list_(pa.float32()),
        ),
    }
    return _columns(table)


def _texts(state: State) -> "pa.Table":
    import pyarrow as pa

    rows = [
        {
            "text": number,
            "source": each["source"],
            "content": each["source"] if "grid" in each else each["text"],
            "labels": each.get("labels"),
            "target_labels": each.get("target labels"),
            "grid": each.get("grid"),
            "prefix": each.get("prefix"),
        }
        for number, each in sorted(state.texts.items())
    ]
    labels = pa.list_(pa.string())
    schema = pa.schema(
        [
            ("text", pa.int64()),
            ("source", pa.string()),
            ("content", pa.string()),
            ("labels", labels),
            ("target_labels", labels),
            ("grid", pa.list_(pa.int32())),
            ("prefix", pa.int32()),
        ]
    )
    return pa.Table.from_pylist(rows, schema)


def _tokens(plan: Plan, state: State) -> "pa.Table":
    """The tokens with the largest sums, and those with the largest means."""
    sums, counts = state.sums, state.sums.counts
    columns: dict[str, list[Any]] = {
        name: [] for name in ("id", "role", "token", "label", "weight", "share", "count", "mean")
    }
    parts = (("key", "drawn", "seen", "keys"), ("query", "given", "queries", "queries"))
    for role, name, over, times in parts:
        weight = sums.total(f"{name} by token")[:, : len(plan.counted)]
        whole = sums.total(f"{name} by token").sum(1)
        for number, place in enumerate(plan.layout.places):
            pairs, often = (counts[f"{each} by token"][number, :-1] for each in (over, times))
            for head in range(place.first, place.first + place.heads):
                means = weight[head] / np.maximum(pairs, 1)
                chosen = _largest(weight[head]) | _largest(np.where(often >= OFTEN, means, 0.0))
                for slot in sorted(chosen, key=lambda slot: (-weight[head, slot], slot)):
                    token = plan.counted[slot]
                    row = (head, role, token, plan.labels[token], weight[head, slot])
                    row += (weight[head, slot] / whole[head], int(often[slot]), means[slot])
                    for column, value in zip(columns.values(), row, strict=True):
                        column.append(value)
    return _columns(columns)


def _largest(values: np.ndarray) -> set[int]:
    """The places of the largest values above 0."""
    order = np.argsort(-values, kind="stable")[:LISTED]
    return {int(place) for place in order if values[place] > 0}


def _pairs(plan: Plan, state: State) -> "pa.Table":
    """The pairs with the largest sums of weights, and how many queries of the token are sampled."""
    names = ("id", "query", "key", "query_label", "key_label", "count", "weight", "queries")
    columns: dict[str, list[Any]] = {name: [] for name in names}
    for place, pairs in zip(plan.layout.places, state.pairs, strict=True):
        sampled = dict(zip(*np.unique(pairs.token, return_counts=True), strict=True))
        for head in range(place.heads if len(pairs.number) else 0):
            for query, key, count, weight in _commonest(
                pairs.token, pairs.keys[:, head], pairs.weights[:, head], plan.settings.pairs
            ):
                row = (place.first + head, query, key, plan.labels[query], plan.labels[key])
                row += (count, weight, int(sampled[query]))
                for column, value in zip(columns.values(), row, strict=True):
                    column.append(value)
    return _columns(columns)


def _commonest(
    queries: np.ndarray, keys: np.ndarray, weights: np.ndarray, most: int
) -> Iterable[tuple[int, int, int, float]]:
    """Pairs of tokens with their counts and summed weights, the largest sums first."""
    both, place = np.unique(np.stack([queries, keys]), axis=1, return_inverse=True)
    count = np.bincount(place)
    total = np.bincount(place, weights)
    order = sorted(range(len(count)), key=lambda each: (-total[each], each))[:most]
    return [
        (int(both[0, each]), int(both[1, each]), int(count[each]), float(total[each]))
        for each in order
    ]
