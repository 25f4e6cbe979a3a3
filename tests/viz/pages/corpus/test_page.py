"""The page of heads over a corpus: what it opens, refuses, and hands to its view."""

import json
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.viz.pages import helpers
from viz.api import tracing
from viz.api.registry import registry
from viz.pages.corpus import runs
from viz.pages.corpus.page import PAGE


def run(**query: str) -> AppTest:
    return helpers.run(PAGE, query)


def model(app: AppTest) -> str:
    """The model of the run that the view is told to show."""
    return registry.get(helpers.view(app, "corpus")["trace"]).value.run.manifest["model"]["name"]


def test_a_run_is_open_before_anything_is_chosen() -> None:
    app = run()
    props = helpers.view(app, "corpus")
    assert model(app) == "all-MiniLM-L6-v2"
    assert props["link"] == {}
    assert props["defaults"]["overview"] == "scatter"
    assert (props["defaults"]["layer"], props["defaults"]["head"]) == (0, 2)  # previous token
    assert not helpers.lines(app)


@pytest.mark.parametrize("name", sorted(runs.titles()))
def test_every_finished_run_opens(name: str) -> None:
    app = run(run=name, layer="0", head="1")
    manifest = json.loads((runs.FINISHED / name / "manifest.json").read_text(encoding="utf-8"))
    assert model(app) == manifest["model"]["name"]
    props = helpers.view(app, "corpus")
    assert (props["start"]["layer"], props["start"]["head"]) == (0, 1)
    assert sum(props["heads"]) == manifest["heads"]
    assert not helpers.lines(app)


def test_a_folder_is_opened_by_its_path() -> None:
    app = helpers.choose(run(), PAGE, "run", runs.FOLDER)
    assert helpers.lines(app) == ["Type the folder of a run: it has a manifest.json."]
    assert model(app) == "all-MiniLM-L6-v2"  # the last one stays
    helpers.choose(app, PAGE, "folder", str(runs.FINISHED / "reverse"))
    assert model(app) == "Reverse"
    assert helpers.link(app) == {"run": "folder", "folder": str(runs.FINISHED / "reverse")}
    assert not helpers.lines(app)


def test_a_folder_without_a_run_is_refused_in_one_line(tmp_path: Path) -> None:
    app = run(run=runs.FOLDER, folder=str(tmp_path))
    (line,) = helpers.lines(app)
    assert line == f"{tmp_path.name}: expected the folder of a run, with a manifest.json"
    for name in ("~nobody-here/run", "n" * 5000, str(runs.FINISHED / "reverse" / "manifest.json")):
        (line,) = helpers.lines(run(run=runs.FOLDER, folder=name))
        assert name.rpartition("/")[2][:20] in line
    missing = run(run=runs.FOLDER, folder=str(tmp_path / "<b>nowhere"))
    assert helpers.lines(missing) == ["<b>nowhere: there is no such folder"]


def test_a_public_server_opens_no_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PUBLIC", "1")
    assert "folder" not in tracing.places()
    app = run(run=runs.FOLDER, folder=str(runs.FINISHED / "reverse"))
    assert model(app) == "all-MiniLM-L6-v2"
    assert not helpers.shown(app, PAGE, "folder")


def test_links_with_invalid_parts_say_so() -> None:
    app = run(run="nothing", layer="first")
    found = " ".join(helpers.lines(app))
    assert "run" in found
    assert "layer" in found
    assert model(app) == "all-MiniLM-L6-v2"
