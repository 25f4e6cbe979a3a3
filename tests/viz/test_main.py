"""`python -m viz`: files from a shell, one line for each mistake, exit status."""

import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from models.run import load, trace
from viz.__main__ import main

TEXT = "the old dog sees a cat"


def run(*arguments: object) -> int:
    return main([str(argument) for argument in arguments])


def test_a_text_becomes_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "weights.npz"
    assert run("--model", "grammar", "--text", TEXT, "--layer", 1, "--head", 0, "-o", path) == 0
    weights = trace(load("grammar"), TEXT).weights(1, 0).numpy()
    np.testing.assert_array_equal(np.load(path)["weights"][0], weights)
    assert capsys.readouterr() == ("", "")


def test_a_picture_becomes_a_figure(tmp_path: Path) -> None:
    picture, path = tmp_path / "noise.png", tmp_path / "figure.svg"
    Image.effect_noise((40, 40), 80).save(picture)
    where = ("--view", "image", "--layer", 0, "--head", "0,1")
    assert run("--model", "digits", "--picture", picture, *where, "-o", path) == 0
    root = ElementTree.parse(path).getroot()
    assert sum(element.tag.endswith("image") for element in root.iter()) == 3


def test_a_batch_goes_on_after_a_failure(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    inputs = tmp_path / "texts.txt"
    inputs.write_text(f"{TEXT}\n\n{'cat ' * 500}\nthe cat\n", encoding="utf-8")
    options = ("--model", "grammar", "--inputs", inputs, "--layer", 0, "--format", "csv", "--json")
    assert run(*options, "--out-dir", tmp_path / "out") == 1
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [Path(line["file"]).name for line in lines] == ["1.csv", "3.csv", "4.csv"]
    assert ["error" in line for line in lines] == [False, True, False]
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["1.csv", "4.csv"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--layer 0 -o a.svg", "one of the arguments --text --picture --inputs is required"),
        ("--text a --layer 0", "expected -o with --text or --picture"),
        ("--text a --layer 0 -o a.doc", "-o: expected a name that ends in one of .svg, .pdf"),
        ("--text a --layer x -o a.svg", "argument --layer: invalid int value: 'x'"),
        ("--text a --head a -o a.svg", "argument --head: expected numbers such as 3 or 0,3"),
        ("--inputs none.txt --out-dir out", "No such file or directory: 'none.txt'"),
        ("--model nothing-such --text a -o a.svg", "nothing-such"),
        ("--model grammar --picture a.png -o a.svg", "--picture: "),
        ("--text a --view rings -o a.svg", "argument --view: invalid choice: 'rings'"),
    ],
)
def test_arguments_that_make_no_sense(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    arguments: str,
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    try:
        status = run(*arguments.split())
    except SystemExit as error:
        status = error.code
    assert status == 2
    said = capsys.readouterr().err
    assert said.startswith("viz: ")
    assert message in said
    assert said.count("\n") == 1


def test_an_input_that_fails_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.svg"
    assert run("--model", "grammar", "--text", TEXT, "--layer", 99, "-o", path) == 1
    assert capsys.readouterr().err.startswith("viz: input: layer: expected one of [0, 1")
    assert not path.exists()
