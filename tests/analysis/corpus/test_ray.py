"""Ray gives what the embedded engine gives. Needs Ray, which the app does not install."""

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from pandas.testing import assert_frame_equal

from analysis.corpus import run
from analysis.corpus.results import NAMES
from models.model import Model
from tests.analysis.corpus.conftest import sentences

SCRIPT = """
import sys
from pathlib import Path
from analysis.corpus import run
from tests.analysis.corpus.conftest import sentences
import torch
from models.encoder import EncoderConfig
from models.run import load

model = load(EncoderConfig(vocab=211, dim=10, depth=1, heads=2, mlp=17, max_tokens=31, seed=4))
run(model, sentences(60), Path(sys.argv[1]), engine="ray", block=4, shard=16, threads=1)
"""


def test_without_ray_one_line_says_what_to_install(
    encoder: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ValueError, match="ray is not installed: pip install -r requirements-ray"):
        run(encoder, sentences(9), tmp_path / "out", engine="ray")
    run(encoder, sentences(9), tmp_path / "out")  # what was planned is still there


@pytest.mark.long
def test_ray_gives_the_same(encoder: Model, tmp_path: Path) -> None:
    """In a process of its own: Ray starts threads and servers."""
    if find_spec("ray") is None:
        pytest.skip("ray is not installed: the package index of the app leaves it out")
    script = [sys.executable, "-c", SCRIPT, str(tmp_path / "ray")]
    done = subprocess.run(script, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    run(encoder, sentences(60), tmp_path / "local", block=4, shard=16, threads=1)
    for name in NAMES:
        one, two = (
            pq.read_table(tmp_path / each / f"{name}.parquet").to_pandas()
            for each in ("ray", "local")
        )
        assert_frame_equal(one, two, check_exact=True)
