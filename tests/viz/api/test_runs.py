"""Runs of the user: started in processes of their own, told of over HTTP, and opened from files."""

import io
import json
import re
import time
import zipfile
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from analysis.corpus import open_corpus, watched
from viz.api import runs
from viz.api.registry import UnknownError
from viz.pages.corpus.runs import FINISHED

WAIT = 120.0


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    return tmp_path / "headscope" / "runs"


@pytest.fixture
def client() -> TestClient:
    app = Starlette(routes=runs.route(lambda: ["127.0.0.1"]))
    return TestClient(app, base_url="http://127.0.0.1:8501")


def files_of(run: str) -> dict[str, bytes]:
    return {f"{run}/{path.name}": path.read_bytes() for path in (FINISHED / run).iterdir()}


def zipped(files: dict[str, bytes]) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return held.getvalue()


def ended(folder: Path) -> watched.Report:
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
    assert ended(folder) == watched.Report("complete", 10, 10)
    assert client.get(runs.PATH).json() == []
    assert open_corpus(folder).manifest["texts"] == 10
    assert runs.titles() == {folder.name: "Grammar, masked words · ten texts"}


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


def test_a_run_that_goes_on_is_not_removed(client: TestClient) -> None:
    folder = runs.new_folder("one")
    watched.begin(folder)
    assert client.post(f"{runs.PATH}/{folder.name}/remove").status_code == 400
    assert folder.exists()
    client.post(f"{runs.PATH}/{folder.name}/pause")
    assert (folder / "work" / "wish.json").read_text().strip() == '{\n "wish": "pause"\n}'


@pytest.mark.parametrize("packed", [False, True], ids=["folder", "zip"])
def test_a_run_made_elsewhere_is_kept(packed: bool, home: Path) -> None:
    files = files_of("reverse")
    given = {"run.zip": zipped(files | {"../evil.txt": b"no"})} if packed else files
    assert runs.is_run(given)
    name = runs.keep(given)
    assert {path.name: path.read_bytes() for path in (home / name).iterdir()} == {
        path.name: path.read_bytes() for path in (FINISHED / "reverse").iterdir()
    }
    assert {path.name for path in home.iterdir()} == {name}
    assert list(runs.titles()) == [name]


DEEP = b"[" * 100_000
MANIFEST = json.loads(files_of("reverse")["reverse/manifest.json"])
SPOILT = {  # what is wrong with each, and what is said
    "manifest.json is nested too deeply": {"manifest.json": DEEP},
    "model.name: expected str, received list": {"model": {**MANIFEST["model"], "name": [1]}},
    "corpora: expected dict, received str": {"corpora": ["no"]},
    "expected a run of this program": {"format": "another"},
    "heads.parquet: not readable as Parquet": {"heads.parquet": b"PAR1 no"},
    "maps.parquet is not of a run: it has no column 'corner'": {
        "maps.parquet": files_of("reverse")["reverse/tokens.parquet"]
    },
}


def spoilt(change: dict[str, Any]) -> dict[str, bytes]:
    """A finished run with one file, or one field of its manifest, replaced."""
    files = {Path(name).name: data for name, data in files_of("reverse").items()}
    files["manifest.json"] = json.dumps(MANIFEST | change, default=str).encode()
    return files | {name: data for name, data in change.items() if name in files}


@pytest.mark.parametrize("packed", [False, True], ids=["folder", "zip"])
@pytest.mark.parametrize("words", SPOILT)
def test_files_that_are_no_run_are_refused_in_one_line(
    words: str, packed: bool, home: Path
) -> None:
    files = spoilt(SPOILT[words])
    with pytest.raises(ValueError, match=re.escape(words)):
        runs.keep({"run.zip": zipped(files)} if packed else files)
    assert not home.exists()
    assert list(home.with_name("opening").iterdir()) == []


def test_a_run_that_lacks_a_table_or_is_too_large_is_refused(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not runs.is_run({"a.txt": b"text", "b.zip": b"no archive"})
    files = files_of("reverse")
    with pytest.raises(ValueError, match=r"pairs\.parquet is not there"):
        runs.keep({n: d for n, d in files.items() if not n.endswith("pairs.parquet")})
    monkeypatch.setattr(runs, "MOST_BYTES", 2 << 10)
    with pytest.raises(ValueError, match=r"expected a run of at most 0 MB"):
        runs.keep({"run.zip": zipped(files)})
    monkeypatch.setattr(runs, "MOST_BYTES", 1 << 29)
    monkeypatch.setattr("analysis.corpus.files.MAX_VALUES", 5)
    with pytest.raises(ValueError, match=r"parquet: expected at most 5 values"):
        runs.keep(files)
    assert not home.exists()


def test_folders_that_cannot_be_read_are_named_and_hold_nothing_up(
    client: TestClient, home: Path
) -> None:
    good = runs.keep(files_of("reverse"))
    for number, change in enumerate(SPOILT.values()):
        folder = home / f"bad-{number}"
        (folder / "work").mkdir(parents=True)
        for name, data in spoilt(change).items():
            (folder / name).write_bytes(data)
        for name in ("command.json", "progress.json", "wish.json"):
            (folder / "work" / name).write_bytes(DEEP)
    (home / "empty").mkdir()
    assert {"bad-4", "bad-5", good} == {*runs.titles()}  # whose manifests are right
    assert [line.split(":")[0] for line in runs.unreadable()] == [f"bad-{n}" for n in range(4)]
    assert client.get(runs.PATH).json() == []
    assert runs.every_folder().keys() >= {"minilm", f"mine/{good}"}


def test_a_public_server_has_no_runs(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    name = runs.keep(files_of("reverse"))
    monkeypatch.setenv("PUBLIC", "1")
    assert client.get(runs.PATH).json() == []
    assert runs.titles() == {}
    with pytest.raises(UnknownError):
        runs.folder_of(name)
    with pytest.raises(ValueError, match="public"):
        runs.keep(files_of("reverse"))
