"""Ray gives what the embedded engine gives. Needs Ray, which the app does not install."""

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from pandas.testing import assert_frame_equal

from analysis.corpus.results import NAMES
from analysis.corpus.runs import corpus
from models.model import Model
from tests.analysis.corpus.conftest import sentences

SCRIPT = """
import sys
from pathlib import Path
from analysis.corpus.runs import corpus
from tests.analysis.corpus.conftest import sentences
import torch
from models.encoder import EncoderConfig
from models.run import load

model = load(EncoderConfig(vocab=211, dim=10, depth=1, heads=2, mlp=17, max_tokens=31, seed=4))
count, shard = map(int, sys.argv[2:])
out = Path(sys.argv[1])
corpus(model, sentences(count), out, engine="ray", shard=shard, threads=1)
"""


def test_without_ray_one_line_says_what_to_install(
    encoder: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ValueError, match="ray is not installed: pip install ray"):
        corpus(encoder, sentences(9), tmp_path / "out", engine="ray")
    corpus(encoder, sentences(9), tmp_path / "out")  # what was planned is still there


def same(encoder: Model, folder: Path, count: int, shard: int) -> None:
    """Asserts that the embedded engine gives what Ray has written."""
    corpus(encoder, sentences(count), folder / "local", shard=shard, threads=1)
    for name in NAMES:
        one, two = (
            pq.read_table(folder / each / f"{name}.parquet").to_pandas()
            for each in ("ray", "local")
        )
        assert_frame_equal(one, two, check_exact=True)


@pytest.fixture
def command(tmp_path: Path) -> list[str]:
    """A run on Ray in a process of its own: it starts threads and servers."""
    if find_spec("ray") is None:
        pytest.skip("the package index has not been asked for Ray: requirements-ray.txt")
    return [sys.executable, "-c", SCRIPT, str(tmp_path / "ray")]


@pytest.mark.long
def test_ray_gives_the_same(command: list[str], encoder: Model, tmp_path: Path) -> None:
    done = subprocess.run([*command, "60", "16"], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    same(encoder, tmp_path, 60, 16)
