"""`python -m train`: from nothing to a folder that opens, and what it says when that fails."""

import resource
from dataclasses import replace
from pathlib import Path

import pytest

import train.__main__ as command
from models.run import load, trace
from train.loop import Settings
from train.recipes import RECIPES
from train.sequences import Rearrange

FOUR = Rearrange("reverse", 4, 4)
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
    exams={"reversed": (RECIPES["reverse"].task, 0.0)},
    items=7,
)


def words(name: str, out: Path, *more: str) -> list[str]:
    return [name, "--out", str(out), "--snapshots", str(out / "snapshots"), *more]


def run(name: str, out: Path, *more: str) -> int:
    return command.main(words(name, out, *more))


@pytest.mark.usefixtures("unchecked_shapes")
def test_reverse_from_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The whole of it, on words of four letters: they take a quarter of the steps."""
    monkeypatch.setitem(RECIPES, "reverse", SHORT)
    assert run("reverse", tmp_path) == 0
    said = capsys.readouterr().out
    assert "of 300 held-out items right (95 % interval" in said  # and the aim was reached
    assert "minutes" in said
    model = load(tmp_path / "reverse")
    found = trace(model, "tram")
    assert model.tokenizer is not None
    written = found.output.values.argmax(-1)[0].tolist()
    assert written == list(model.tokenizer.encode("mart").ids)


def test_it_goes_on_where_it_was_interrupted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(RECIPES, "reverse", TINY)
    assert run("reverse", tmp_path / "whole") == 0

    def interrupted(name: str, progress: command.Progress) -> None:
        if progress.step == 5:
            raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(command, "show", interrupted)
        with pytest.raises(KeyboardInterrupt):
            run("reverse", tmp_path / "rest")
    capsys.readouterr()
    assert run("reverse", tmp_path / "rest", "--resume") == 0
    assert "4/6" not in capsys.readouterr().out  # the first four were there
    weights = [tmp_path / n / "reverse" / "model.safetensors" for n in ("whole", "rest")]
    assert weights[0].read_bytes() == weights[1].read_bytes()


def test_nothing_to_go_on_from(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("reverse", tmp_path, "--resume") == 1
    assert "reverse.pt: expected a snapshot" in capsys.readouterr().err


def test_an_aim_that_is_missed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    task = TINY.task
    monkeypatch.setitem(RECIPES, "reverse", replace(TINY, exams={"reversed": (task, 0.5)}))
    assert run("reverse", tmp_path) == 1
    assert "a target was missed: nothing is written" in capsys.readouterr().err
    assert not (tmp_path / "reverse").exists()


def test_not_a_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    wild = replace(TINY, settings=Settings(steps=50, batch=3, every=1, tested=5, rate=1e38))
    monkeypatch.setitem(RECIPES, "reverse", wild)
    assert run("reverse", tmp_path) == 1
    assert "is not a finite number at step" in capsys.readouterr().err
    assert not (tmp_path / "reverse").exists()


def test_a_full_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(RECIPES, "reverse", TINY)
    assert run("reverse", tmp_path) == 0
    good = (tmp_path / "reverse" / "model.safetensors").read_bytes()
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, before[1]))
        assert run("reverse", tmp_path) == 1
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert "the existing files are unchanged" in capsys.readouterr().err
    assert (tmp_path / "reverse" / "model.safetensors").read_bytes() == good
