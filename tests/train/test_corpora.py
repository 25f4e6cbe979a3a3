"""The command that makes the runs that come with the app."""

from pathlib import Path

import pytest

from analysis.corpus.opened import open_corpus
from train import corpora
from train.corpora import make


@pytest.mark.parametrize("name", ["reverse", "dates", "grammar", "shapes"])
def test_a_run_is_made_and_made_again(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(corpora, "ITEMS", 5)
    folder = make(name, tmp_path)
    first = open_corpus(folder)
    assert first.manifest["texts"] == 5
    assert "5 items of its task" in first.manifest["corpora"][0]["about"]
    assert not (folder / "work").exists()
    assert make(name, tmp_path) == folder
    assert open_corpus(folder).measures.equals(first.measures)
    assert [path.name for path in tmp_path.iterdir()] == [name]
