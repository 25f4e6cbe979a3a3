"""Runs of the user: started in processes of their own, told of over HTTP, and opened from files."""

import io
import time
import zipfile
from pathlib import Path

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
    assert (folder / "work" / "wish.json").read_text().strip() == '"pause"'


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


def test_files_that_are_no_run_are_refused_in_one_line(home: Path) -> None:
    assert not runs.is_run({"a.txt": b"text", "b.zip": b"no archive"})
    lacking = {n: d for n, d in files_of("reverse").items() if not n.endswith("pairs.parquet")}
    with pytest.raises(ValueError, match=r"pairs\.parquet is not there"):
        runs.keep(lacking)
    with pytest.raises(ValueError, match="expected a run of this program"):
        runs.keep({"manifest.json": b"{}"})
    assert list(home.iterdir()) == []


def test_a_public_server_has_no_runs(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    name = runs.keep(files_of("reverse"))
    monkeypatch.setenv("PUBLIC", "1")
    assert client.get(runs.PATH).json() == []
    assert runs.titles() == {}
    with pytest.raises(UnknownError):
        runs.folder_of(name)
    with pytest.raises(ValueError, match="public"):
        runs.keep(files_of("reverse"))
