"""The forward benchmark: that it compares what it says, and prints what it measures."""

import json
import subprocess
import sys
from typing import Any

import pytest
import torch

from benchmarks import forward, memory, subjects
from benchmarks.measure import Spread


@pytest.fixture(scope="module")
def forms() -> dict[str, subjects.Forward]:
    return subjects.build(layers=1)


@pytest.fixture
def built_once(monkeypatch: pytest.MonkeyPatch, forms: dict[str, subjects.Forward]) -> None:
    monkeypatch.setattr(subjects, "build", lambda *_, **__: forms)


def test_the_forms_agree_and_their_heads_differ(forms: dict[str, subjects.Forward]) -> None:
    ids = subjects.draw_ids(23)
    apart = subjects.compare(forms, ids)
    assert max(apart.values()) < subjects.CLOSE
    weights = forms["traced"](ids).weights(0)
    assert float((weights[3] - weights[5]).abs().max()) > 0.1


def test_forms_that_differ_are_not_timed(forms: dict[str, subjects.Forward]) -> None:
    other = {**forms, "fused": lambda ids: forms["fused"](ids.flip(1))}
    with pytest.raises(RuntimeError, match="fused output"):
        subjects.compare(other, subjects.draw_ids(23))


def test_every_block_reads_every_row_once(
    forms: dict[str, subjects.Forward], monkeypatch: pytest.MonkeyPatch
) -> None:
    trace = forms["traced"](subjects.draw_ids(131))
    rows = [
        (head, row)
        for block in trace.pattern(0).blocks()
        for head in range(subjects.HEADS)[block.heads]
        for row in range(131)[block.rows]
    ]
    assert sorted(rows) == [(head, row) for head in range(subjects.HEADS) for row in range(131)]
    asked: list[Any] = []
    monkeypatch.setattr(type(trace), "weights", lambda self, *wanted: asked.append(wanted))
    for what in ("one head", "one layer", "every layer"):
        subjects.read(trace, what)
    assert asked == [(0, 6), (0,), (0,)]


@pytest.mark.usefixtures("built_once")
def test_json_holds_what_the_tables_show(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--tokens", "7", "11", "--pairs", "2", "--layers", "1", "--no-memory"]
    assert forward.main([*arguments, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert [result["tokens"] for result in report["results"]] == [7, 11]
    first = report["results"][0]
    assert set(first["seconds"]) == set(subjects.CASES)
    assert set(first["reading seconds"]) == set(subjects.READINGS)
    assert first["seconds"]["traced"]["count"] == 2
    assert report["machine"]["torch threads"] == torch.get_num_threads()
    assert forward.main(arguments) == 0
    shown = capsys.readouterr().out
    for part in ("7 tokens", "11 tokens", "traced / fused", "aim: traced at most 1.05 × fused"):
        assert part in shown


def test_the_verdict_is_by_the_median() -> None:
    met, missed = (Spread.of([1.0, ratio, 2.0]) for ratio in (1.04, 1.06))
    pairs = [(met, met), (missed, met), (met, missed)]
    results = [
        {"tokens": tokens, "traced / fused": own, "door / fused": theirs}
        for tokens, (own, theirs) in zip((5, 7, 11), pairs, strict=True)
    ]
    assert forward._verdicts(results) == "5: met, 7: MISSED, 11: MISSED"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--tokens", "2049"], "expected 1 to 2048"),
        (["--device", "tpu"], "--device"),
        (["--pairs", "many"], "--pairs"),
    ],
)
def test_options_that_make_no_sense_are_refused(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        forward.parse(arguments)
    assert message in capsys.readouterr().err


def test_defaults_and_quick() -> None:
    full, quick = forward.parse([]), forward.parse(["--quick"])
    assert (full.tokens, full.pairs) == ([128, 512, 2048], 20)
    assert (quick.tokens, quick.pairs) == ([128, 512], 3)


def test_the_peak_rises_by_what_was_held_for_a_moment() -> None:
    code = "from benchmarks.memory import rise_of; print(rise_of(lambda: b'x' * 2**26))"
    command = [sys.executable, "-c", code]
    ran = subprocess.run(command, cwd=memory.ROOT, capture_output=True, text=True, check=True)
    # the kernel counts pages in batches, a processor at a time; the interpreter's own come on top
    assert 2**26 - 2 * memory.MIB < int(ran.stdout) < 2**26 + 8 * memory.MIB
