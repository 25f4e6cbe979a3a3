"""A watched run reports in its folder, and stops when a file there says so."""

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from analysis.corpus import watched
from analysis.corpus.opened import open_corpus
from analysis.corpus.runs import corpus
from analysis.corpus.watched import Progress, report_of
from models.model import Model

Texts = Callable[..., Path]


def read(model: Model, path: Path, out: Path, then: Callable[[Progress], None]) -> None:
    """A watched run in shards of eight texts; `then` hears how far it is after each batch."""

    with watched.watched(out) as control:

        def told(progress: Progress) -> None:
            control(progress)
            then(progress)

        corpus(model, [path], out, shard=8, control=told)


def test_a_run_is_stopped_and_goes_on_later(encoder: Model, texts: Texts, tmp_path: Path) -> None:
    path, out = texts(40), tmp_path / "out"
    read(encoder, path, out, lambda report: watched.stop(out) if report.done > 20 else None)
    report = report_of(out)
    assert report is not None
    assert report.status == "stopped"
    assert open_corpus(out).manifest["status"] == "stopped"
    assert set(open_corpus(out).table("heads")["items"].to_pylist()) <= {16, 24}
    watched.begin(out)
    read(encoder, path, out, lambda report: None)
    corpus(encoder, [path], tmp_path / "whole", shard=8)
    resumed, whole = (open_corpus(tmp_path / each).measures for each in ("out", "whole"))
    assert resumed["count"].equals(whole["count"])
    assert resumed["mean"].to_numpy() == pytest.approx(whole["mean"].to_numpy(), rel=1e-12)


def test_a_failed_run_says_why_in_one_line(encoder: Model, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read(encoder, tmp_path / "nowhere.txt", tmp_path / "out", lambda report: None)
    report = report_of(tmp_path / "out")
    assert report is not None
    assert (report.status, "\n" in report.problem) == ("failed", False)
    assert report.problem.endswith("nowhere.txt: there is no such file or folder")


def test_a_process_that_reports_no_more_is_gone(tmp_path: Path) -> None:
    assert report_of(tmp_path) is None
    watched.begin(tmp_path)
    assert report_of(tmp_path) == Progress()
    path = tmp_path / "work" / "progress.json"
    old = time.time() - 2 * watched.SILENCE
    os.utime(path, (old, old))
    assert report_of(tmp_path) == Progress(status="killed")
    for other in ("[]", '{"status": "paused"}'):  # the second of an earlier version
        path.write_text(other)
        assert report_of(tmp_path) is None
