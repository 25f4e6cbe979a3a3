"""The static site of a run holds what the app answers, and no more than a run needs."""

import json
from pathlib import Path

import pytest

from analysis.corpus.__main__ import main
from analysis.corpus.runs import corpus as run_corpus
from models.run import load
from viz.api import compared, corpus
from viz.api.endpoint import answered, path_of
from viz.api.entries import RunEntry
from viz.api.runs import FINISHED
from viz.corpus_site import file_of, unlinked, write_site


def held(out: Path, path: str) -> dict:
    return json.loads((out / "data" / file_of(path)).read_text(encoding="utf-8"))


def answer_of(entry: RunEntry, path: str) -> dict:
    """The app's answer, without links into the app."""
    return unlinked(json.loads(answered(entry, path)))


def test_the_files_are_the_app_s_answers(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    out = tmp_path / "site"
    assert main(["--out", str(FINISHED / "dates"), "--site", str(out)]) == 0
    assert capsys.readouterr().out.strip() == str(out / "index.html")
    entry = corpus.hold(FINISHED / "dates").value
    assert (out / "data" / "overview.bin").read_bytes() == corpus.overview(entry)
    for site, each in enumerate(entry.sites):
        for head in range(each.heads):
            for path in (f"head?site={site}&head={head}", f"alike?site={site}&head={head}"):
                assert held(out, path) == answer_of(entry, path)
                assert "./" not in json.dumps(held(out, path))
    assert main(["--out", str(FINISHED / "dates"), "--site", str(out)]) == 0  # again


@pytest.mark.parametrize("same", [True, False], ids=["same heads", "other heads"])
def test_a_site_compares_two_runs_as_the_app_does(same: bool, tmp_path: Path) -> None:
    run, out = FINISHED / "induction", tmp_path / "site"
    texts = ["a b c d a b c d", "d c b a d c b a", "a a b b c c d d"]
    against = run_corpus(load("induction"), texts, tmp_path / "b") if same else FINISHED / "grammar"
    assert main(["--out", str(run), "--site", str(out), "--against", str(against)]) == 0
    entry = corpus.hold(run, against).value
    assert (out / "data" / "overview.bin").read_bytes() == corpus.overview(entry)
    keys = [path_of("changes", number=each.key) for each in compared.measures(entry.run)]
    for path in ("changes", *keys):
        assert held(out, path) == answer_of(entry, path)
    head = held(out, "head?site=1&head=0")
    assert bool(held(out, "changes")["changes"]) == (head["there"] is not None) == same
    assert head == answer_of(entry, "head?site=1&head=0")
    assert write_site(run, out).exists()  # again, without the second run
    assert not (out / "data" / file_of("changes")).exists()


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["--out", "nowhere", "--site", "SITE"], "nowhere: there is no such folder"),
        (["--out", str(FINISHED / "dates"), "--site", "USED"], "used is not empty"),
    ],
    ids=["no run", "other files"],
)
def test_what_cannot_be_written_is_one_line(
    arguments: list[str], line: str, tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    used = tmp_path / "used"
    used.mkdir()
    (used / "thesis.tex").write_text("years of work", encoding="utf-8")
    places = {"SITE": str(tmp_path / "site"), "USED": str(used)}
    assert main([places.get(each, each) for each in arguments]) == 1
    complaint = capsys.readouterr().err
    assert line in complaint
    assert complaint.count("\n") == 1
    assert [path.name for path in used.iterdir()] == ["thesis.tex"]
