"""Runs: what they write is a plain loop's, however the corpus is cut, killed or appended to."""

from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from analysis.corpus import Progress, corpus, open_corpus
from analysis.corpus.intervals import interval
from analysis.corpus.plan import Plan
from analysis.corpus.results import NAMES
from analysis.corpus.samples import numbers
from analysis.corpus.scales import BINS, STRENGTHS, distance_bins, edges, measures
from analysis.corpus.state import State
from analysis.heads import heads
from models.model import Model
from models.run import trace

Texts = Callable[..., Path]
CLOSE = 1e-5


def finished(model: Model, texts: Path, out: Path, **settings: Any) -> tuple[Plan, State]:
    """The plan and the sums of a run."""
    corpus(model, [texts], out, **settings)
    plan = Plan.open(out)
    assert plan is not None
    return plan, State.from_table(pq.read_table(out / "work" / "state.parquet"))


@pytest.mark.parametrize("kind", ["decoder", "encoder"])
def test_every_number_is_a_plain_loop_s(
    kind: str, texts: Texts, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    model: Model = request.getfixturevalue(kind)
    path = texts(13)
    plan, state = finished(model, path, tmp_path / "out", block=9)
    lines = [each for each in path.read_text().splitlines() if len(each.split()) > 1]
    traces = [trace(model, line) for line in lines]
    tables = [heads(each) for each in traces]
    found = open_corpus(tmp_path / "out")
    by_row = found.measures.set_index(["id", "measure"])
    for measure in measures(False):
        values = np.stack([each[measure.key].numpy().ravel() for each in tables]).astype(float)
        for head in range(plan.layout.heads):
            known = values[~np.isnan(values[:, head]), head]
            if not len(known):
                assert (head, measure.key) not in by_row.index
                continue
            row = by_row.loc[(head, measure.key)]
            assert row["count"] == len(known)
            close = CLOSE * max(1.0, known.max())
            assert row["mean"] == pytest.approx(known.mean(), abs=close)
            if len(known) > 1:
                assert row["variance"] == pytest.approx(known.var(ddof=1), abs=close)
                share = (measure.low, measure.high) == (0, 1)
                moments = known.mean(), known.var(ddof=1), float(len(known))
                ends = interval(*moments, share=share)
                assert (row["low"], row["high"]) == pytest.approx(ends, abs=10 * close)
            limits = edges(measure)
            expected, _ = np.histogram(np.minimum(known, limits[-1]), limits)
            column = measures(False).index(measure)
            counted = state.sums.counts["histogram"][head, column, : len(expected)]
            # a number on an edge may round to either side of it
            assert np.abs(np.cumsum(counted - expected)).max() <= 1
    token_sums: dict[tuple[int, int], float] = defaultdict(float)
    distances, corner = np.zeros((plan.layout.heads, 2 * BINS - 1)), defaultdict(list)
    for found_trace in traces:
        for place in plan.layout.places:
            weights = found_trace.weights(place.where).double()
            for head in range(place.heads):
                number = place.first + head
                count = weights.shape[-1]
                for i in range(count):
                    if kind == "decoder" and i == 0:
                        continue  # it sees one key
                    for j in range(count):
                        w = float(weights[head, i, j])
                        token_sums[number, found_trace.tokens[0].ids[j]] += w
                        distances[number, int(distance_bins(np.array([j - i]))[0])] += w
                for i in range(min(16, count)):
                    for j in range(min(16, count)):
                        corner[number, i, j].append(float(weights[head, i, j]))
    np.testing.assert_allclose(state.sums.total("distance"), distances, atol=1e-4)
    drawn = state.sums.total("drawn by token")
    for (head, token), total in token_sums.items():
        assert drawn[head, plan.counted.index(token)] == pytest.approx(total, abs=1e-4)
    for (head, i, j), each in corner.items():
        assert state.sums.counts["corner"][head, i, j] == len(each)
        assert state.sums.total("corner")[head, i, j] == pytest.approx(sum(each), abs=1e-5)


def test_examples_are_the_smallest_numbers_of_each_interval(
    decoder: Model, texts: Texts, tmp_path: Path
) -> None:
    path = texts(30)
    plan, state = finished(decoder, path, tmp_path / "out", block=9, shard=9, seed=5)
    lines = [each for each in path.read_text().splitlines() if len(each.split()) > 1]
    kept = state.examples
    for place in plan.layout.places:
        candidates: dict[tuple[int, int], list[tuple[int, int, int]]] = {}
        near = set()
        for text, line in enumerate(lines):
            weights = trace(decoder, line).weights(place.where)
            for query in range(1, weights.shape[1]):
                number = int(numbers(5, np.array([text]), np.array([query]))[0])
                for head in range(place.heads):
                    strength = float(weights[head, query, 1:].max())
                    near |= (
                        {(head, text, query)} if min(abs(strength - STRENGTHS)) < 1e-6 else set()
                    )
                    interval = int(np.searchsorted(STRENGTHS, strength, side="right")) - 1
                    candidates.setdefault((head, interval), []).append((number, text, query))
        assert not near  # else the interval would be a matter of rounding
        for (head, interval), every in candidates.items():
            expected = sorted(every)[: kept.text.shape[2]]
            at = place.first + head, interval
            stop = len(expected)
            got = zip(kept.number[at][:stop], kept.text[at], kept.query[at], strict=False)
            assert [tuple(map(int, each)) for each in got] == expected
            _, text, query = expected[0]
            row = trace(decoder, lines[text]).weights(place.where, head, rows=query)[0]
            top = row.topk(min(8, len(row)))
            weights_kept = kept.weights[at][0][: len(top.values)]
            np.testing.assert_allclose(weights_kept, top.values, atol=1e-6)


def test_pairs_are_those_of_every_query_of_a_small_corpus(
    encoder: Model, texts: Texts, tmp_path: Path
) -> None:
    path = texts(19)
    corpus(encoder, [path], tmp_path / "out", block=5, shard=5, pairs=31)
    lines = [each for each in path.read_text().splitlines() if len(each.split()) > 1]
    expected: dict[int, Counter] = {0: Counter(), 1: Counter()}
    for line in lines:
        found = trace(encoder, line)
        labels, weights = found.labels, found.weights(0)
        for head in range(2):
            for query in range(len(labels)):
                key = 1 + int(weights[head, query, 1:].argmax())
                expected[head][labels[query], labels[key]] += 1
    table = open_corpus(tmp_path / "out").table("pairs").to_pylist()
    for head in range(2):
        rows = [row for row in table if row["id"] == head]
        assert len(rows) == min(31, len(expected[head])) > 30
        for row in rows:
            assert row["count"] == expected[head][row["query_label"], row["key_label"]]


def differing(one: State, other: State, relative: float) -> list[str]:
    """The arrays of two states that differ: sums by more than so much, others at all."""
    first, second = (
        {row["name"]: row for row in each.to_table().to_pylist()} for each in (one, other)
    )
    assert first.keys() == second.keys()
    exact = [
        name
        for name, row in first.items()
        if name.partition("/")[0] in ("counts", "examples", "pairs")
        and row["data"] != second[name]["data"]
    ]
    sums = [
        name
        for name in one.sums.high
        if not np.allclose(one.sums.total(name), other.sums.total(name), rtol=relative, atol=0)
    ]
    return exact + sums


def cut_anyhow(model: Model, path: Path, tmp_path: Path, block: int, shards: list[int]) -> None:
    states = {
        shard: finished(model, path, tmp_path / f"out-{shard}", block=block, shard=shard, threads=1)
        for shard in shards
    }
    plan, whole = states[shards[0]]
    assert len(plan.shards) == 1
    for shard in shards[1:]:
        assert differing(whole, states[shard][1], 1e-12) == []
        for name in NAMES:
            tables = [
                pq.read_table(tmp_path / f"out-{each}" / f"{name}.parquet")
                for each in (shards[0], shard)
            ]
            assert tables[0].schema == tables[1].schema
            assert tables[0].num_rows == tables[1].num_rows


def test_the_cut_changes_nothing(encoder: Model, texts: Texts, tmp_path: Path) -> None:
    cut_anyhow(encoder, texts(60), tmp_path, 4, [64, 32, 20, 4])


class KilledError(Exception):
    """Ends a run in the middle."""


def test_a_run_goes_on_after_its_last_shard(encoder: Model, texts: Texts, tmp_path: Path) -> None:
    path, told = texts(60), []

    def control(progress: Progress) -> None:
        told.append(progress)
        if progress.total is not None and progress.done > 25:
            raise KilledError

    with pytest.raises(KilledError):
        corpus(encoder, [path], tmp_path / "out", block=4, shard=8, control=control)
    before = len(told)
    _, state = finished(encoder, path, tmp_path / "out", block=4, shard=8)
    _, whole = finished(encoder, path, tmp_path / "whole", block=4, shard=8)
    assert differing(whole, state, 1e-12) == []
    assert before > 5
    assert [each.done for each in told if each.total] == sorted(
        each.done for each in told if each.total
    )


def test_texts_are_appended(encoder: Model, texts: Texts, tmp_path: Path) -> None:
    one, two, out = texts(24, 1), texts(16, 2), tmp_path / "out"
    corpus(encoder, [one], out, block=8)
    with pytest.raises(ValueError, match="holds a finished run: append to it"):
        corpus(encoder, [two], out, block=8)
    corpus(encoder, [two], out, block=8, append=True)
    _, whole = finished(encoder, one, tmp_path / "unused", block=8)
    assert whole.sums.counts["items"].tolist() == [24, 24]
    both = tmp_path / "both.txt"
    both.write_text(one.read_text() + two.read_text())
    _, together = finished(encoder, both, tmp_path / "together", block=8)
    appended = State.from_table(pq.read_table(out / "work" / "state.parquet"))
    assert differing(together, appended, 1e-12) == []
    found = open_corpus(out)
    assert [each["texts"] for each in found.manifest["corpora"]] == [24, 16]
    assert found.manifest["texts"] == 40


def test_another_model_or_other_settings_are_refused(
    encoder: Model, decoder: Model, texts: Texts, tmp_path: Path
) -> None:
    path, out = texts(12), tmp_path / "out"
    corpus(encoder, [path], out, block=8)
    with pytest.raises(ValueError, match="holds a run of other weights"):
        corpus(decoder, [path], out, block=8, append=True)
    with pytest.raises(ValueError, match=r"holds a run with other settings \(block\)"):
        corpus(encoder, [path], out, block=4, append=True)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("dear")
    with pytest.raises(ValueError, match="not empty, and holds no run"):
        corpus(encoder, [path], tmp_path / "mine")


def test_long_texts_are_cut_and_counted(encoder: Model, tmp_path: Path) -> None:
    corpus(encoder, ["dog " * 250_000, "a cat", "one"], tmp_path / "out")
    manifest = open_corpus(tmp_path / "out").manifest
    assert manifest["corpora"][0] | {"digest": ""} == {
        "about": "",
        "digest": "",
        "texts": 2,
        "shortened": 1,
        "too short": 1,
    }
    assert manifest["tokens"] == 31 + 2
