"""Writes what a run found as Parquet files that any tool reads, a table each.

heads       one row a head: address, how much was read, scores of its matrices
measures    head × number: layer, head, count, mean, variance, 95 % interval, share of texts at 0.4
            or more
maps        head: mean weights of the first 16 tokens; of pictures, where weight goes
examples    head × interval of strength: queries with their strongest keys
texts       the texts of the examples, with their tokens
tokens      head: keys that draw most, queries that give most
pairs       head: query and key tokens, of sampled queries with their strongest plain key
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from analysis.corpus.files import write_table
from analysis.corpus.intervals import interval
from analysis.corpus.plan import Plan
from analysis.corpus.state import STRENGTHS, State

if TYPE_CHECKING:
    import pyarrow as pa

LISTED = 32  # tokens of each head
NAMES = ("heads", "measures", "maps", "examples", "texts", "tokens", "pairs")
Columns = dict[str, Any]


def write_results(folder: Path, plan: Plan, state: State) -> None:
    """Writes every table of a run; none for one of which nothing was read."""
    import pyarrow as pa

    if not state.totals["items"].any():
        return
    tables = {
        "heads": _heads(plan, state),
        "measures": _measures(plan, state, _heads(plan, state)),
        "maps": _maps(state),
        "examples": _examples(state),
        "tokens": _rows(_tokens(plan, state), "id role token label weight share"),
        "pairs": _rows(
            _pairs(plan, state), "id query key query_label key_label count weight queries"
        ),
    }
    for name, columns in tables.items():
        write_table(folder / f"{name}.parquet", pa.table(columns))
    write_table(folder / "texts.parquet", _texts(state))


def _rows(rows: Iterator[tuple], names: str) -> Columns:
    """Columns of rows."""
    every = list(rows)
    columns = zip(*every, strict=True) if every else [()] * len(names.split())
    return dict(zip(names.split(), columns, strict=True))


def _measures(plan: Plan, state: State, heads: Columns) -> Columns:
    """Mean, variance and interval of every number of every head, where it is defined."""
    totals, names = state.totals, np.array([each.key for each in plan.measures])
    count, total = totals["count"], totals["sum"].astype(np.longdouble)
    share = np.array([(each.low, each.high) == (0, 1) for each in plan.measures])
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = total / count
        variance = np.maximum(totals["square"] - total * mean, 0.0) / (count - 1)
        both = [interval(mean, variance, count, share=each) for each in (True, False)]
        low, high = (np.where(share, *ends).astype(float) for ends in zip(*both, strict=True))
        holds = np.where(share, totals["holds"] / count, np.nan)
    number, column = at = np.nonzero(count)
    return {
        "id": number,
        **{name: np.array(heads[name])[number] for name in ("layer", "head")},
        "measure": names[column].tolist(),
        "count": count[at].astype(np.int64),
        "mean": mean[at].astype(float),
        "variance": variance[at].astype(float),
        "low": low[at],
        "high": high[at],
        "holds": holds[at],
    }


def _heads(plan: Plan, state: State) -> Columns:
    places = [(place, head) for place in plan.places for head in range(place.heads)]
    return {
        "id": range(len(places)),
        "layer": [place.where.layer for place, _ in places],
        "head": [head for _, head in places],
        "kind": [place.where.kind for place, _ in places],
        "tower": [place.where.tower for place, _ in places],
        "module": [place.where.module for place, _ in places],
        "part": [place.where.part or 0 for place, _ in places],
        "items": state.totals["items"].astype(np.int64),
        "queries": state.totals["queries"].astype(np.int64),
        **plan.scores,
    }


def _maps(state: State) -> Columns:
    totals = state.totals
    with np.errstate(invalid="ignore"):
        corner = totals["corner"] / totals["corner items"]
    columns: Columns = {"id": np.arange(len(corner)), "corner": _lists(corner)}
    if "grid" in totals:
        columns["grid"] = _lists(totals["grid"] / np.maximum(totals["queries"], 1)[:, None])
    return columns


def _lists(values: np.ndarray) -> list[np.ndarray]:
    """A list of numbers for each head."""
    return list(values.reshape(len(values), -1).astype(np.float32))


def _examples(state: State) -> Columns:
    rows = state.examples.rows()
    head, interval = np.divmod(rows["cell"], len(STRENGTHS))
    used = rows["keys"] >= 0
    return {
        "id": head,
        "from": STRENGTHS[interval],
        "to": np.append(STRENGTHS[1:], 1.0)[interval],
        **{name: rows[name] for name in ("text", "query", "strength")},
        **{
            name: [each[kept] for each, kept in zip(rows[name], used, strict=True)]
            for name in ("keys", "weights")
        },
    }


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
    kinds = {
        "text": pa.int64(),
        **dict.fromkeys(("source", "content"), pa.string()),
        **dict.fromkeys(("labels", "target_labels"), pa.list_(pa.string())),
        "grid": pa.list_(pa.int32()),
        "prefix": pa.int32(),
    }
    return pa.Table.from_pylist(rows, pa.schema(kinds))


def _tokens(plan: Plan, state: State) -> Iterator[tuple]:
    """The tokens with the largest sums of weight."""
    for role, name in (("key", "drawn"), ("query", "given")):
        for head, weights in enumerate(state.totals[name]):
            order = np.argsort(-weights[:-1], kind="stable")[:LISTED]
            for column in order[weights[order] > 0]:
                token, weight = plan.counted[column], weights[column]
                yield head, role, token, plan.labels[token], weight, weight / weights.sum()


def _pairs(plan: Plan, state: State) -> Iterator[tuple]:
    """The pairs with the largest sums of weights, and how many queries of the token are sampled."""
    labels = plan.labels
    for place, sample in zip(plan.places, state.pairs, strict=True):
        rows: Mapping[str, np.ndarray] = sample.rows()
        if not rows:
            continue
        sampled = dict(zip(*np.unique(rows["token"], return_counts=True), strict=True))
        for head in range(place.heads):
            both = np.stack([rows["token"], rows["keys"][:, head]])
            pairs, at = np.unique(both, axis=1, return_inverse=True)
            count, weight = np.bincount(at), np.bincount(at, rows["weights"][:, head])
            for each in np.argsort(-weight, kind="stable")[: plan.settings.pairs]:
                query, key = (int(token) for token in pairs[:, each])
                said = query, key, labels[query], labels[key]
                yield place.first + head, *said, count[each], weight[each], sampled[query]
