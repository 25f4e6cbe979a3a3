"""Runs: what they write is a plain loop's, however the corpus is cut or killed."""

from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from analysis.corpus import runs
from analysis.corpus.intervals import interval
from analysis.corpus.opened import open_corpus
from analysis.corpus.plan import Plan
from analysis.corpus.results import NAMES
from analysis.corpus.runs import corpus
from analysis.corpus.state import KEPT, STRENGTHS, State, numbers
from analysis.corpus.watched import Progress
from analysis.descriptions import MOST
from analysis.heads import heads
from models.model import Model
from models.run import trace

Texts = Callable[..., Path]
CLOSE = 1e-5


def finished(model: Model, texts: Path, out: Path, **settings: Any) -> tuple[Plan, State]:
    """The plan and the sums of a run."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runs, "forget", lambda folder: None)
        corpus(model, [texts], out, **settings)
    plan = Plan.open(out)
    assert plan is not None
    return plan, State.open(out / "work" / "state.npz", plan)


@pytest.mark.parametrize("kind", ["decoder", "encoder"])
def test_every_number_is_a_plain_loop_s(
    kind: str, texts: Texts, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    model: Model = request.getfixturevalue(kind)
    path = texts(13)
    plan, state = finished(model, path, tmp_path / "out")
    lines = [each for each in path.read_text().splitlines() if len(each.split()) > 1]
    traces = [trace(model, line) for line in lines]
    tables = [heads(each) for each in traces]
    found = open_corpus(tmp_path / "out")
    by_row = found.measures.set_index(["id", "measure"])
    for measure in plan.measures:
        values = np.stack([each[measure.key].numpy().ravel() for each in tables]).astype(float)
        for head in range(plan.heads):
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
            often = row["holds"] if (measure.low, measure.high) == (0, 1) else None
            assert often is None or often == np.mean(known >= MOST)
    sums: dict[str, dict[tuple[int, int], float]]
    sums = {name: defaultdict(float) for name in ("drawn", "given")}
    corner = defaultdict(list)
    for found_trace in traces:
        for place in plan.places:
            weights = found_trace.weights(place.where).double()
            for head in range(place.heads):
                number = place.first + head
                count = weights.shape[-1]
                for i in range(count):
                    if kind == "decoder" and i == 0:
                        continue  # it sees one key
                    for j in range(count):
                        w = float(weights[head, i, j])
                        tokens = found_trace.tokens[0]
                        sums["drawn"][number, tokens.ids[j]] += w
                        if j and not tokens.special[j]:
                            sums["given"][number, tokens.ids[i]] += w
                for i in range(min(16, count)):
                    for j in range(min(16, count)):
                        corner[number, i, j].append(float(weights[head, i, j]))
    for name, by_token in sums.items():
        for (head, token), total in by_token.items():
            column = plan.counted.index(token)
            assert state.totals[name][head, column] == pytest.approx(total, abs=1e-4)
    for (head, i, j), each in corner.items():
        assert state.totals["corner items"][head, i, j] == len(each)
        assert state.totals["corner"][head, i, j] == pytest.approx(sum(each), abs=1e-5)


def test_examples_are_the_smallest_numbers_of_each_interval(
    decoder: Model, texts: Texts, tmp_path: Path
) -> None:
    path = texts(30)
    plan, state = finished(decoder, path, tmp_path / "out", shard=9)
    lines = [each for each in path.read_text().splitlines() if len(each.split()) > 1]
    kept = state.examples.rows()
    for place in plan.places:
        candidates: dict[tuple[int, int], list[tuple[int, int, int]]] = {}
        near = set()
        for text, line in enumerate(lines):
            weights = trace(decoder, line).weights(place.where)
            for query in range(1, weights.shape[1]):
                number = int(numbers(np.array([text]), np.array([query]))[0])
                for head in range(place.heads):
                    strength = float(weights[head, query, 1:].max())
                    near |= (
                        {(head, text, query)} if min(abs(strength - STRENGTHS)) < 1e-6 else set()
                    )
                    interval = int(np.searchsorted(STRENGTHS, strength, side="right")) - 1
                    candidates.setdefault((head, interval), []).append((number, text, query))
        assert not near  # else the interval would be a matter of rounding
        for (head, interval), every in candidates.items():
            expected = sorted(every)[:KEPT]
            at = kept["cell"] == (place.first + head) * len(STRENGTHS) + interval
            got = zip(
                *(kept[name][at].tolist() for name in ("number", "text", "query")), strict=True
            )
            assert list(got) == expected
            _, text, query = expected[0]
            row = trace(decoder, lines[text]).weights(place.where, head, rows=query)[0]
            top = row.topk(min(8, len(row)))
            weights_kept = kept["weights"][at][0][: len(top.values)]
            np.testing.assert_allclose(weights_kept, top.values, atol=1e-6)


def test_pairs_are_those_of_every_query_of_a_small_corpus(
    encoder: Model, texts: Texts, tmp_path: Path
) -> None:
    path = texts(19)
    corpus(encoder, [path], tmp_path / "out", shard=5, pairs=31)
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


def same(one: State, other: State, rounding: float = 0) -> None:
    """Two states have the same samples and sums, within rounding."""
    samples = zip((one.examples, *one.pairs), (other.examples, *other.pairs), strict=True)
    for mine, theirs in [(one.totals, other.totals), *((a.rows(), b.rows()) for a, b in samples)]:
        assert mine.keys() == theirs.keys()
        for name, values in mine.items():
            np.testing.assert_allclose(
                values, theirs[name], rtol=rounding, atol=rounding, err_msg=name
            )


def test_the_cut_changes_no_more_than_rounding(
    encoder: Model, texts: Texts, tmp_path: Path
) -> None:
    states = {}
    for shard in (64, 20, 4):
        out, settings = tmp_path / f"out-{shard}", {"shard": shard, "threads": 1}
        plan, states[shard] = finished(encoder, texts(60), out, **settings)
        assert len(plan.sizes) == -(-60 // shard)
        same(states[64], states[shard], 1e-5)  # other batches round differently
    for name in NAMES:
        tables = [pq.read_table(tmp_path / f"out-{each}" / f"{name}.parquet") for each in states]
        assert {table.schema for table in tables} == {tables[0].schema}
        assert {table.num_rows for table in tables} == {tables[0].num_rows}


class KilledError(Exception):
    """Ends a run in the middle."""


def test_a_run_goes_on_after_its_last_shard(encoder: Model, texts: Texts, tmp_path: Path) -> None:
    path, told = texts(60), []

    def control(progress: Progress) -> None:
        told.append(progress)
        if progress.total is not None and progress.done > 25:
            raise KilledError

    with pytest.raises(KilledError):
        corpus(encoder, [path], tmp_path / "out", shard=8, control=control)
    before = len(told)
    _, state = finished(encoder, path, tmp_path / "out", shard=8)
    _, whole = finished(encoder, path, tmp_path / "whole", shard=8)
    same(whole, state)
    assert before > 5
    assert any(each.done % 8 for each in told if each.total)  # it tells after every batch
    assert [each.done for each in told if each.total] == sorted(
        each.done for each in told if each.total
    )


def test_another_model_or_other_settings_are_refused(
    encoder: Model, decoder: Model, texts: Texts, tmp_path: Path
) -> None:
    path, out = texts(12), tmp_path / "out"
    finished(encoder, path, out)
    with pytest.raises(ValueError, match="out holds a finished run: name another folder"):
        corpus(encoder, [path], out)
    manifest = out / "manifest.json"
    manifest.write_text(manifest.read_text().replace("complete", "stopped"))
    with pytest.raises(ValueError, match="holds a run of other weights"):
        corpus(decoder, [path], out)
    with pytest.raises(ValueError, match=r"holds a run with other settings \(longest\)"):
        corpus(encoder, [path], out, longest=9)
    (out / "work" / "plan.json").write_text("{}")
    with pytest.raises(ValueError, match="out was begun by another version"):
        corpus(encoder, [path], out)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("dear")
    with pytest.raises(ValueError, match="not empty, and holds no run"):
        corpus(encoder, [path], tmp_path / "mine")


def test_long_texts_are_cut_and_counted(encoder: Model, tmp_path: Path) -> None:
    corpus(encoder, ["dog " * 250_000, "a cat", "one"], tmp_path / "out")
    manifest = open_corpus(tmp_path / "out").manifest
    assert manifest["corpora"][0] == {
        "about": "",
        "texts": 2,
        "shortened": 1,
        "too short": 1,
    }
    assert manifest["tokens"] == 31 + 2
