"""`headscope figure`: files from a shell, one line for each mistake, exit status."""

import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from scipy.io import wavfile

from analysis.relevance import relevance
from models.run import load, trace
from tests.models.inputs.test_sound import RATE, saved, wave
from viz.command import main

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


def test_a_recording_becomes_a_figure(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    saved("wav2vec 2.0", tmp_path / "model")
    wavfile.write(tmp_path / "said.wav", RATE, wave())
    (tmp_path / "text.wav").write_text("this is no sound")
    model = ("--model", tmp_path / "model", "--layer", 1, "--head", 0)
    path = tmp_path / "weights.npz"
    capsys.readouterr()
    assert run(*model, "--recording", tmp_path / "said.wav", "-o", path) == 0
    weights = trace(load(tmp_path / "model"), tmp_path / "said.wav").weights(1, 0).numpy()
    np.testing.assert_allclose(np.load(path)["weights"][0], weights, atol=1e-6)
    for name, why in (
        ("text.wav", "expected a WAV file, which this is not: convert the recording to one"),
        ("missing.wav", "no such file"),
        ("model", "no such file"),
    ):
        assert run(*model, "--recording", tmp_path / name, "-o", path) == 1
        assert capsys.readouterr().err == f"headscope figure: input: {name}: {why}\n"
    assert run("--model", "grammar", "--recording", "said.wav", "--layer", 0, "-o", path) == 2
    assert "reads no sound" in capsys.readouterr().err


def test_relevance_runs_the_model_again(tmp_path: Path) -> None:
    path = tmp_path / "relevance.npz"
    where = ("--view", "model", "--method", "gradient", "--explain", "2.5")
    assert run("--model", "grammar-next", "--text", TEXT, *where, "-o", path) == 0
    found = np.load(path)
    expected = relevance(load("grammar-next"), TEXT, target=(2, 5), method="gradient").numpy()
    np.testing.assert_allclose(found["gradient_token"], expected, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            "--layer 0 -o a.svg",
            "one of the arguments --text --picture --recording is required",
        ),
        ("--text a --layer 0", "the following arguments are required: -o/--output"),
        ("--text a --layer 0 -o a.doc", "-o: expected a name that ends in one of .svg, .pdf"),
        ("--text a --layer x -o a.svg", "argument --layer: invalid int value: 'x'"),
        ("--text a --head a -o a.svg", "argument --head: expected numbers such as 3 or 0,3"),
        ("--model nothing-such --text a -o a.svg", "nothing-such"),
        ("--text a --rows 3-1 -o a.svg", "argument --rows: expected positions such as"),
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
    assert said.startswith("headscope figure: ")
    assert message in said
    assert said.count("\n") == 1


def test_an_input_that_fails_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.svg"
    assert run("--model", "grammar", "--text", TEXT, "--layer", 99, "-o", path) == 1
    assert capsys.readouterr().err.startswith("headscope figure: input: layer: expected 0 to")
    assert not path.exists()
