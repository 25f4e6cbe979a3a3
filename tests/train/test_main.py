"""`python -m train`: from nothing to a folder that opens, and what it says when that fails."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

import train.__main__ as command
from models.files.errors import CheckpointError
from models.run import load, trace
from tests.full_disk import disk_with_room_for
from train.letters import Reverse
from train.loop import Settings
from train.recipes import RECIPES

FOUR = Reverse(4, 4)
SHORT = replace(
    RECIPES["reverse"],
    task=FOUR,
    settings=Settings(steps=150, batch=64, rate=5e-3, every=50),
    exams={"reversed": (FOUR, 0.95)},
    items=300,
)
TINY = replace(
    RECIPES["reverse"],
    settings=Settings(steps=6, batch=3, every=2, tested=5),
    exams={"reversed": (Reverse(), 0.0)},
    items=7,
)


def run(out: Path) -> int:
    return command.main(["reverse", "--out", str(out)])


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(RECIPES, "reverse", TINY)


@pytest.mark.usefixtures("unchecked_shapes")
def test_reverse_from_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The whole of it, on words of four letters: they take a quarter of the steps."""
    monkeypatch.setitem(RECIPES, "reverse", SHORT)
    assert run(tmp_path) == 0
    said = capsys.readouterr().out
    assert "of 300 held-out items right (95 % interval" in said  # and the aim was reached
    assert "minutes" in said
    model = load(tmp_path / "reverse")
    found = trace(model, "tram")
    assert model.tokenizer is not None
    written = found.output.values.argmax(-1)[0].tolist()
    assert written == list(model.tokenizer.encode("mart").ids)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["reverse"]


@pytest.mark.parametrize(
    ("recipe", "says"),
    [
        (replace(TINY, exams={"reversed": (Reverse(), 0.5)}), "a target was missed: nothing is"),
        (replace(TINY, settings=replace(TINY.settings, rate=1e30)), "is not a finite number at"),
    ],
)
def test_what_went_wrong_is_one_line_and_nothing_is_written(
    recipe: object,
    says: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setitem(RECIPES, "reverse", recipe)
    assert run(tmp_path) == 1
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert says in line
    assert not (tmp_path / "reverse").exists()


@pytest.mark.usefixtures("tiny")
def test_a_full_disk_leaves_the_last_good_checkpoint(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(tmp_path) == 0
    good = {path.name: path.read_bytes() for path in (tmp_path / "reverse").iterdir()}
    assert set(good) == {"config.json", "model.safetensors", "tokenizer.json"}
    with disk_with_room_for(50_000):
        assert run(tmp_path) == 1
    assert "the existing files are unchanged" in capsys.readouterr().err
    assert {path.name: path.read_bytes() for path in (tmp_path / "reverse").iterdir()} == good


@pytest.mark.usefixtures("tiny")
def test_a_checkpoint_that_does_not_fit_is_one_line(tmp_path: Path) -> None:
    assert run(tmp_path) == 0
    file = tmp_path / "reverse" / "config.json"
    good = json.loads(file.read_text())
    for change, message in (
        ({"depth": 3}, r"the checkpoint lacks blocks\.2"),
        ({"classes": 0}, "no place in .*head"),
        ({"mlp": 19}, r"wrong shapes for blocks\.0.*64 × 128 in place of 64 × 19"),
        ({"width": 3}, r"config: expected only .*, received \['width'\]"),
        ({"heads": "three"}, "config: "),
        ({"norm": "both"}, "norm: expected one of"),
    ):
        file.write_text(json.dumps({**good, "config": {**good["config"], **change}}))
        with pytest.raises(CheckpointError, match=message) as caught:
            load(tmp_path / "reverse")
        assert "\n" not in str(caught.value)
