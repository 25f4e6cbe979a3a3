"""The picture of the last start: kept, shown before PyTorch is there, and never out of date."""

import json
import os
import subprocess
import sys

import pytest
import streamlit as st

import start
from viz.pages import opening

MESSAGE = bytes(range(256))


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(opening, "FOLDER", tmp_path / "kept")
    opening._made_from.cache_clear()
    st.cache_resource.clear()
    yield opening.FOLDER
    opening._made_from.cache_clear()
    st.cache_resource.clear()


def test_nothing_was_kept():
    assert opening.kept() is None


def test_what_was_kept_comes_back_to_the_byte(folder):
    opening.keep(lambda: MESSAGE)
    assert opening.kept() == MESSAGE
    assert len(list(folder.iterdir())) == 1


def test_it_is_made_once():
    made = []
    for _ in range(3):
        opening.keep(lambda: made.append(1) or MESSAGE)
    assert made == [1]


@pytest.mark.parametrize(
    "harm", [lambda whole: whole[:-1], lambda whole: b"", lambda whole: whole[::-1]]
)
def test_a_broken_file_is_none(folder, harm):
    opening.keep(lambda: MESSAGE)
    (file,) = folder.iterdir()
    file.write_bytes(harm(file.read_bytes()))
    assert opening.kept() is None


@pytest.mark.parametrize("part", ["file", "library"])
def test_after_a_change_it_is_made_anew(folder, tmp_path, monkeypatch, part):
    changed = tmp_path / "changed"
    changed.write_text("1")
    if part == "library":
        monkeypatch.setattr(opening, "version", lambda name: "1")
    else:
        monkeypatch.setattr(opening, "_files", lambda: [changed])
    opening.keep(lambda: MESSAGE)
    opening._made_from.cache_clear()
    if part == "library":
        monkeypatch.setattr(opening, "version", lambda name: "2")
    else:
        os.utime(changed, ns=(1, 1))
    assert opening.kept() is None
    st.cache_resource.clear()
    opening.keep(lambda: MESSAGE[::-1])
    assert opening.kept() == MESSAGE[::-1]
    assert len(list(folder.iterdir())) == 1


def test_code_and_checkpoint_are_what_it_is_made_from():
    names = {path.name for path in opening._files()}
    assert {"attend.py", "overview.py", "pack.py", "answers.py"} <= names
    assert {"model.safetensors", "tokenizer.json", "config.json"} <= names


def test_a_folder_that_cannot_be_written_is_no_problem(folder):
    folder.write_text("a file is in the way")
    opening.keep(lambda: MESSAGE)
    assert opening.kept() is None


def test_without_the_checkpoint_nothing_is_kept(monkeypatch):
    def missing(_):
        raise opening.catalogue.CheckpointError("not there")

    monkeypatch.setattr(opening.catalogue, "folder", missing)
    opening.keep(lambda: MESSAGE)
    assert opening.kept() is None


TWO_STARTS = """
import json, struct, sys, threading
from pathlib import Path
from viz.pages import opening
opening.FOLDER = Path(sys.argv[1])
import headscope_views
sent = []
real = headscope_views.explorer
def explorer(data, **others):
    sent.append(("torch" in sys.modules, data))
    return real(data, **others)
headscope_views.explorer = explorer
from streamlit.testing.v1 import AppTest
app = AppTest.from_file("app.py", default_timeout=120)
if sys.argv[2]:
    app.query_params["head"] = sys.argv[2]
app.run()
for thread in threading.enumerate():
    if thread.name == "warm-up":
        thread.join()
app.run()
def told(data):
    header = json.loads(data[4:4 + struct.unpack("<I", data[:4])[0]])
    return {"trace": header["trace"], "base": header["base"] is not None, "bytes": data.hex()}
print(json.dumps([{"torch": torch, **told(data)} for torch, data in sent]))
"""


def starts(folder, head=""):
    """What one start of the app sends the explorer, message by message."""
    done = subprocess.run(
        [sys.executable, "-c", TWO_STARTS, str(folder), head],
        cwd=start.ROOT,
        capture_output=True,
        text=True,
        timeout=200,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.splitlines()[-1])


def test_the_second_start_shows_the_first_one_s_picture_before_pytorch_is_there(tmp_path):
    first = starts(tmp_path)
    assert [said["base"] for said in first] == [False, True]
    second = starts(tmp_path)
    assert (second[0]["torch"], second[0]["base"]) == (False, True)
    assert second[0]["bytes"] == first[1]["bytes"]
    assert {said["trace"] for said in second} == {first[1]["trace"]}
    other = starts(tmp_path, head="2")
    assert not other[0]["base"]
