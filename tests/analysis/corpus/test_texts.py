"""Readers: every kind of file, and one clear line for what cannot be read."""

import errno
import io
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from analysis.corpus.__main__ import main
from analysis.corpus.files import reason_of
from analysis.corpus.opened import open_corpus
from analysis.corpus.runs import corpus
from analysis.corpus.texts import Text, texts_of
from models.model import Model
from models.run import load
from models.vit import ViTConfig
from tests.analysis.corpus.conftest import sentences

LINES = ["A dog ran.", "“Über” – ok, 你好", "Two\u2028lines"]


def written(folder: Path, suffix: str) -> Path:
    path = folder / f"corpus{suffix}"
    if suffix == ".txt":
        path.write_text("\n".join(LINES[:2]) + "\n\n" + LINES[2], encoding="utf-8-sig")
    elif suffix == ".jsonl":
        rows = [{"id": 1, "text": LINES[0]}, LINES[1], {"text": LINES[2]}]
        path.write_text("\n".join(map(json.dumps, rows)))
    elif suffix == ".csv":
        rows = "".join(f'{n},"{line}"\n' for n, line in enumerate(LINES))
        path.write_text(f"id,sentence\n{rows}", encoding="utf-8")
    else:
        pq.write_table(pa.table({"n": [1, 2, 3], "content": LINES}), path)
    return path


@pytest.mark.parametrize("suffix", [".txt", ".jsonl", ".csv", ".parquet"])
def test_every_kind_of_file_gives_its_texts(suffix: str, tmp_path: Path) -> None:
    found = list(texts_of([written(tmp_path, suffix)]))
    assert [each.text for each in found] == LINES
    assert found[0].source.startswith(f"corpus{suffix}:")
    assert list(texts_of([tmp_path])) == found


def test_columns_can_be_named(tmp_path: Path) -> None:
    path = tmp_path / "pairs.csv"
    path.write_text("en,pt\nthe cat,o gato\n")
    assert list(texts_of([path], column="en", target="pt")) == [
        Text("pairs.csv:2", "the cat", "o gato")
    ]


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("one two\n\nthree\n"))
    assert [each.text for each in texts_of([Path("-")])] == ["one two", "three"]


def test_pictures_of_a_folder(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    for name in ("b.png", "deep/a.jpg"):
        Image.new("RGB", (8, 8)).save(tmp_path / name)
    assert [each.source for each in texts_of([tmp_path], pictures=True)] == ["b.png", "a.jpg"]


def latin(path: Path) -> None:
    path.write_bytes("Caf\xe9".encode("latin-1"))


BAD: dict[str, tuple[str, Callable[[Path], object], str]] = {
    "encoding": ("a.txt", latin, r"a.txt: expected UTF-8, received byte 0xe9: convert"),
    "kind": ("a.pdf", lambda p: p.write_bytes(b"%PDF"), "a.pdf: expected files that end in .txt"),
    "JSON": ("a.jsonl", lambda p: p.write_text('"a"\n{'), "a.jsonl:2: expected one JSON value"),
    "number": ("a.jsonl", lambda p: p.write_text("3"), "a.jsonl:1: expected a string or an object"),
    "not text": ("a.jsonl", lambda p: p.write_text('{"text": 3}'), "a.jsonl:1: expected text"),
    "columns": ("a.csv", lambda p: p.write_text("a,b\n1,2\n"), "which column holds the text"),
    "Parquet": ("a.parquet", lambda p: p.write_bytes(b"PAR1 no"), "a.parquet: not readable as"),
    "folder": ("a", lambda p: p.mkdir(), "a: expected files that end in"),
    "empty": ("a.txt", lambda p: p.touch(), "the corpus is empty"),
    "one token": ("a.txt", lambda p: p.write_text("a\nb\n"), "the corpus is empty: expected"),
    "missing": ("a.txt", lambda p: None, "there is no such file or folder"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_line(
    case: str,
    encoder: Model,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    name, write, said = BAD[case]
    write(tmp_path / name)
    monkeypatch.setattr("analysis.corpus.runs.load", lambda source, device=None: encoder)
    out = tmp_path / "out"
    arguments = ["--model", "x", "--texts", str(tmp_path / name), "--out", str(out)]
    assert main(arguments) == 1
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert said in error
    assert error.startswith("headscope corpus: ")


def test_a_column_that_is_not_there(tmp_path: Path) -> None:
    for suffix in (".csv", ".parquet"):
        with pytest.raises(ValueError, match=r"expected a column 'body', received"):
            list(texts_of([written(tmp_path, suffix)], column="body"))


def test_a_full_disk_keeps_what_was_done(
    encoder: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write, times = np.savez, []

    def full(path: Path, **arrays: Any) -> None:
        times.append(path)
        if len(times) == 3:
            path.write_bytes(b"half")
            raise OSError(errno.ENOSPC, "No space left on device")
        write(path, **arrays)

    monkeypatch.setattr(np, "savez", full)
    with pytest.raises(OSError, match="No space left") as full_disk:
        corpus(encoder, sentences(40), tmp_path / "out", shard=8)
    assert reason_of(full_disk.value).startswith("the disk is full: make room")
    assert {path.name for path in (tmp_path / "out" / "work").glob("*.npz")} == {"state.npz"}
    seen = []
    corpus(encoder, sentences(40), tmp_path / "out", shard=8, control=seen.append)
    assert min(each.done for each in seen) > 16
    assert open_corpus(tmp_path / "out").manifest["status"] == "complete"


def test_what_is_no_run_is_refused(encoder: Model, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="there is no such folder"):
        open_corpus(tmp_path / "none")
    with pytest.raises(ValueError, match="expected the folder of a run"):
        open_corpus(tmp_path)
    corpus(encoder, sentences(9), tmp_path / "out")
    path = tmp_path / "out" / "measures.parquet"
    pq.write_table(pa.table({"a": [1]}), path)
    with pytest.raises(ValueError, match=r"measures.parquet is not of a run: it has no column"):
        open_corpus(tmp_path / "out").top("entropy")
    path.write_bytes(b"no")
    with pytest.raises(ValueError, match=r"measures.parquet: not readable as Parquet"):
        open_corpus(tmp_path / "out").top("entropy")
    path.unlink()
    with pytest.raises(ValueError, match=r"measures.parquet is not there"):
        open_corpus(tmp_path / "out")
    for text in ("{", "[]", '{"format": "other"}'):
        (tmp_path / "out" / "manifest.json").write_text(text)
        with pytest.raises(ValueError, match=r"manifest.json|expected a run of this program"):
            open_corpus(tmp_path / "out")


def test_a_text_that_is_refused_is_counted(tmp_path: Path) -> None:
    model = load(ViTConfig(image=24, patch=4, dim=15, depth=2, heads=3, mlp=17))
    folder = tmp_path / "pictures"
    folder.mkdir()
    for number in range(3):
        Image.new("RGB", (24 + number, 24), (number, 80, 9)).save(folder / f"{number}.png")
    (folder / "!.png").write_bytes(b"no picture")
    corpus(model, [folder], tmp_path / "out")
    found = open_corpus(tmp_path / "out")
    assert found.heads["items"].tolist() == [3] * 6
    assert sum(found.manifest["notes"].values()) == 1
    assert {"patch distance", "row entropy"} <= set(found.measures["measure"])


def test_the_command(tmp_path: Path) -> None:
    """From a shell, from standard input, with a trained model."""
    command = [sys.executable, "-m", "analysis.corpus", "--model", "induction", "--texts", "-"]
    done = subprocess.run(
        [*command, "--out", str(tmp_path / "out")],
        input="a b c a b c\nb c d b c d\n",
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert open_corpus(tmp_path / "out").manifest["texts"] == 2
