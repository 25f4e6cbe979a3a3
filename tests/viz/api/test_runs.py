"""Runs of the user: started in processes of their own, told of over HTTP, and refused if spoilt."""

import json
import re
import shutil
import time
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from analysis.corpus import watched
from analysis.corpus.opened import open_corpus
from viz.api import corpus, runs
from viz.api.endpoint import UnknownError
from viz.api.runs import FINISHED

WAIT = 120.0


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    return tmp_path / "headscope" / "runs"


@pytest.fixture
def client() -> TestClient:
    app = Starlette(routes=runs.route())
    return TestClient(app, base_url="http://127.0.0.1:8501")


def ended(folder: Path) -> watched.Progress:
    ends = time.monotonic() + WAIT
    while (report := watched.report_of(folder)) is None or report.going:
        assert time.monotonic() < ends, report
        time.sleep(0.05)
    return report


def test_a_run_is_made_by_the_command_in_its_own_process(
    client: TestClient, tmp_path: Path
) -> None:
    texts = tmp_path / "texts.txt"
    texts.write_text("the cat sees the dog\nthe dogs see a cat\n" * 5, encoding="utf-8")
    folder = runs.new_folder("Grammar texts")
    arguments = ["--model", "grammar", "--texts", str(texts), "--about", "ten texts"]
    runs.start(folder, "Grammar, masked words · ten texts", arguments)
    (report,) = client.get(runs.PATH).json()
    assert (report["name"], report["title"]) == (folder.name, "Grammar, masked words · ten texts")
    assert ended(folder) == watched.Progress(10, 10, status="complete")
    assert client.get(runs.PATH).json() == []
    assert open_corpus(folder).manifest["texts"] == 10
    assert runs.choices()[f"mine/{folder.name}"] == "Grammar, masked words · ten texts"


def test_a_run_that_cannot_read_says_why_and_is_removed(client: TestClient, home: Path) -> None:
    folder = runs.new_folder("nothing")
    runs.start(folder, "Nothing", ["--model", "grammar", "--texts", str(home / "none.txt")])
    ended(folder)
    (report,) = client.get(runs.PATH).json()
    assert report["status"] == "failed"
    assert report["problem"].endswith("none.txt: there is no such file or folder")
    assert client.post(f"{runs.PATH}/{folder.name}/shout").status_code == 400
    assert client.post(f"{runs.PATH}/{folder.name}/remove").json() == []
    assert not folder.exists()


@pytest.mark.parametrize("name", ["..", "nothing", "%2e%2e%2fother", "a/b"])
def test_other_folders_are_out_of_reach(client: TestClient, home: Path, name: str) -> None:
    (home.parent / "other" / "work").mkdir(parents=True)
    home.mkdir()
    assert client.post(f"{runs.PATH}/{name}/remove").status_code == 404
    assert (home.parent / "other").exists()


def kept(home: Path, name: str, change: dict[str, Any] | None = None) -> Path:
    """A finished run among those of the user, with files or fields of its manifest replaced."""
    folder, change = home / name, change or {}
    shutil.copytree(FINISHED / "reverse", folder)
    (folder / "manifest.json").write_text(json.dumps(MANIFEST | change, default=str))
    for file, data in change.items():
        if (folder / file).exists():
            (folder / file).write_bytes(data)
    return folder


DEEP = b"[" * 100_000
MANIFEST = json.loads((FINISHED / "reverse" / "manifest.json").read_text())
SPOILT = {  # what is wrong with each, and what is said
    "manifest.json is nested too deeply": {"manifest.json": DEEP},
    "model.name: expected str, received list": {"model": {**MANIFEST["model"], "name": [1]}},
    "corpora: expected objects": {"corpora": ["no"]},
    "expected a run of this program": {"format": "another"},
    "heads.parquet: not readable as Parquet": {"heads.parquet": b"PAR1 no"},
    "maps.parquet is not of a run: it has no column 'corner'": {
        "maps.parquet": (FINISHED / "reverse" / "tokens.parquet").read_bytes()
    },
}


@pytest.mark.parametrize("words", SPOILT)
def test_a_folder_that_is_no_run_is_refused_in_one_line(words: str, home: Path) -> None:
    folder = kept(home, "bad", SPOILT[words])
    with pytest.raises(ValueError, match=re.escape(words)) as caught:
        corpus.overview(corpus.opened(folder))
    assert "\n" not in str(caught.value)


def test_a_run_that_lacks_a_table_or_is_too_large_is_refused(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = kept(home, "bad")
    monkeypatch.setattr("analysis.corpus.files.MAX_VALUES", 5)
    with pytest.raises(ValueError, match=r"parquet: expected at most 5 values"):
        corpus.opened(folder)
    (folder / "pairs.parquet").unlink()
    with pytest.raises(ValueError, match=r"pairs\.parquet is not there"):
        corpus.opened(folder)


def test_folders_that_cannot_be_read_hold_nothing_up(client: TestClient, home: Path) -> None:
    kept(home, "good")
    for number, change in enumerate(SPOILT.values()):
        folder = kept(home, f"bad-{number}", change)
        (folder / "work").mkdir()
        for name in ("command.json", "progress.json"):
            (folder / "work" / name).write_bytes(DEEP)
    (home / "empty").mkdir()
    users = {name for name in runs.choices() if name.startswith("mine/")}
    assert users == {"mine/bad-4", "mine/bad-5", "mine/good"}  # whose manifests are right
    assert client.get(runs.PATH).json() == []
    assert runs.folders().keys() >= {"minilm", "mine/good"}


def test_a_public_server_has_no_runs(
    client: TestClient, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept(home, "good")
    monkeypatch.setenv("PUBLIC", "1")
    assert client.get(runs.PATH).json() == []
    assert not [name for name in runs.choices() if name.startswith("mine/")]
    with pytest.raises(UnknownError):
        runs.folder_of("good")
