"""Runs that take long: a pretrained model's known heads, and processes that are killed."""

import random
import signal
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from pandas.testing import assert_frame_equal

from analysis.corpus import corpus, open_corpus
from analysis.corpus.repeated import repeated
from analysis.corpus.results import NAMES
from models.run import load
from tests.analysis.corpus.conftest import sentences

pytestmark = pytest.mark.long

KILLS = 10
SLOW = """
import os, signal, sys, threading, time
from pathlib import Path
from analysis.corpus import corpus
from models.encoder import EncoderConfig
from models.run import load

alive, clocks = float(sys.argv[3]), []

def control(progress):
    if progress.total is not None and not clocks:
        clocks.append(threading.Timer(alive, os.kill, (os.getpid(), signal.SIGKILL)))
        clocks[0].daemon = True
        clocks[0].start()
    time.sleep(0.01)

model = load(EncoderConfig(vocab=211, dim=10, depth=1, heads=2, mlp=17, max_tokens=31, seed=4))
corpus(model, [Path(sys.argv[1])], Path(sys.argv[2]), shard=4, threads=1,
    control=control)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="kill -9 is of POSIX")
def test_a_run_that_is_killed_ten_times_ends_the_same(tmp_path: Path) -> None:
    texts = tmp_path / "corpus.txt"
    texts.write_text("\n".join(sentences(400)) + "\n")
    command = [sys.executable, "-c", SLOW, str(texts)]
    subprocess.run([*command, str(tmp_path / "whole"), "600"], check=True, timeout=600)
    dice = random.Random(4)
    for _ in range(KILLS):
        alive = str(0.3 * dice.random())  # seconds of reading, which takes several
        done = subprocess.run([*command, str(tmp_path / "killed"), alive], check=False, timeout=600)
        assert done.returncode == -signal.SIGKILL
    subprocess.run([*command, str(tmp_path / "killed"), "600"], check=True, timeout=600)
    assert not list((tmp_path / "killed").glob("*.tmp"))
    for name in NAMES:
        one, two = (
            pq.read_table(tmp_path / each / f"{name}.parquet").to_pandas()
            for each in ("whole", "killed")
        )
        assert_frame_equal(one, two, check_exact=True)


def test_the_known_heads_of_smollm2_come_first(tmp_path: Path) -> None:
    """Over repeated random tokens: induction in layer 18, head 6; the token before in 16, 0."""
    model = load("smollm2")
    assert model.tokenizer is not None
    found = open_corpus(corpus(model, repeated(model, 24), tmp_path / "out", longest=64))
    first = {key: found.top(key, 1).iloc[0] for key in ("induction", "previous token")}
    assert (first["induction"]["layer"], first["induction"]["head"]) == (18, 6)
    assert (first["previous token"]["layer"], first["previous token"]["head"]) == (16, 0)
    assert found.heads["sentence"].notna().all()
