"""The page of heads over a corpus: what it opens, refuses, and hands to its view."""

import json
import shutil
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.viz.pages import helpers
from viz.api import runs, tracing
from viz.api import runs as api_runs
from viz.api.registry import registry
from viz.pages.corpus.page import PAGE


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder without runs."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return tmp_path / "data" / "headscope" / "runs"


def run(**query: str) -> AppTest:
    return helpers.run(PAGE, query)


def model(app: AppTest) -> str:
    """The model of the run that the view is told to show."""
    return registry.get(helpers.view(app, "corpus")["trace"]).value.run.manifest["model"]["name"]


def test_a_run_is_open_before_anything_is_chosen(home: Path) -> None:
    (home / "bad").mkdir(parents=True)
    shutil.copy(runs.FINISHED / "reverse" / "heads.parquet", home / "bad")
    (home / "bad" / "manifest.json").write_text("[" * 100_000, encoding="utf-8")
    app = run()
    assert helpers.lines(app) == []
    props = helpers.view(app, "corpus")
    assert model(app) == "all-MiniLM-L6-v2"
    assert props["link"] == {}
    assert (props["defaults"]["layer"], props["defaults"]["head"]) == (0, 2)  # previous token


@pytest.mark.parametrize(
    "name", sorted(path.parent.name for path in runs.FINISHED.glob("*/manifest.json"))
)
def test_every_finished_run_opens(name: str) -> None:
    app = run(run=name, layer="0", head="1")
    manifest = json.loads((runs.FINISHED / name / "manifest.json").read_text(encoding="utf-8"))
    assert model(app) == manifest["model"]["name"]
    props = helpers.view(app, "corpus")
    assert (props["start"]["layer"], props["start"]["head"]) == (0, 1)
    assert not helpers.lines(app)


def test_a_folder_is_opened_by_its_path() -> None:
    app = helpers.choose(run(), PAGE, "run", runs.FOLDER)
    assert helpers.lines(app) == ["Type the folder of a run: it has a manifest.json."]
    assert model(app) == "all-MiniLM-L6-v2"  # the last one stays
    helpers.choose(app, PAGE, "folder", str(runs.FINISHED / "reverse"))
    assert model(app) == "Reverse"
    assert helpers.link(app) == {"run": "folder", "folder": str(runs.FINISHED / "reverse")}
    assert not helpers.lines(app)


def test_a_public_server_opens_no_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PUBLIC", "1")
    assert "folder" not in tracing.places()
    app = run(run=runs.FOLDER, folder=str(runs.FINISHED / "reverse"))
    assert model(app) == "all-MiniLM-L6-v2"
    assert not helpers.shown(app, PAGE, "folder")


def unfolded(app: AppTest) -> AppTest:
    """The page with the form of a new run."""
    app.session_state[f"{PAGE}_begin"] = True
    return helpers.checked(app.run())


def started(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Path, str, list[str]]]:
    """What the page starts, instead of a process."""
    calls: list[tuple[Path, str, list[str]]] = []
    monkeypatch.setattr(api_runs, "start", lambda *call: calls.append(call))
    return calls


def click(app: AppTest) -> AppTest:
    return helpers.checked(app.button(f"{PAGE}_start").click().run())


def test_a_run_over_a_path_is_started_as_the_command_would(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    calls, path = started(monkeypatch), tmp_path / "books.csv"
    path.write_text("body\nOne text.\n", encoding="utf-8")
    app = unfolded(run(reader="grammar", corpus="path", corpus_path=str(path), column="body"))
    click(app)
    ((folder, title, arguments),) = calls
    assert title == "Grammar, masked words · books.csv"
    assert arguments == [
        *("--model", "grammar", "--about", "books.csv"),
        *("--texts", str(path), "--column", "body"),
    ]
    assert folder.is_dir()
    assert not helpers.lines(app)
