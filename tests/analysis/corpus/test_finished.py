"""The runs that come with the app."""

from typing import Any

import numpy as np
import pytest

from analysis.corpus.finished import FINISHED
from analysis.corpus.opened import SHARED, open_corpus
from analysis.corpus.results import NAMES
from models.run import load
from train.corpora import NAMES as MADE

RUNS = {path.parent.name for path in FINISHED.glob("*/manifest.json")}


def test_they_are_those_that_the_command_makes() -> None:
    assert set(MADE) == RUNS
    for name in RUNS:
        run = open_corpus(FINISHED / name)
        assert run.manifest["status"] == "complete"
        assert run.manifest["corpora"][0]["about"]
        assert len(run.heads) == run.manifest["heads"]
        for table in NAMES:
            assert run.table(table).num_rows or table in ("tokens", "pairs")
        assert run.heads["sentence"].notna().all()


def test_they_are_of_the_weights_that_are_here() -> None:
    for name in ("reverse", "induction", "digits"):
        assert open_corpus(FINISHED / name).manifest["model"]["digest"] == load(name).digest


def test_known_heads_come_first() -> None:
    found = open_corpus(FINISHED / "smollm2-repeated")
    for key, address in (("induction", (18, 6)), ("previous token", (16, 0))):
        first = found.top(key, 1).iloc[0]
        assert (first["layer"], first["head"]) == address
    assert found.top("induction", 1)["mean"].iloc[0] > 0.4


def test_likeness_is_what_two_heads_share_by_a_plain_loop() -> None:
    one, two = (open_corpus(FINISHED / name) for name in ("grammar", "induction"))
    for mine, theirs in ((one, one), (one, two)):
        found: Any = mine.like_head(1, 99, of=theirs).set_index("id")["likeness"]
        maps = [run.corners for run in (mine, theirs)]
        for head in range(len(found)):
            tokens = [dict(run.drawn.loc[h]) for run, h in ((mine, head), (theirs, 1))]
            both = sorted(set(tokens[0]) | set(tokens[1]))
            pairs = [(tokens[0].get(label, 0.0), tokens[1].get(label, 0.0)) for label in both]
            shared = sum(map(min, pairs)) / sum(map(max, pairs))
            overlap = (
                np.minimum(maps[0][head], maps[1][1]).sum()
                / np.maximum(maps[0][head], maps[1][1]).sum()
            )
            gaps = [
                abs(mine.heads[name][head] - theirs.heads[name][1])
                for name in SHARED
                if name in mine.heads and name in theirs.heads
            ]
            near = 1 - np.nanmean(gaps)
            assert found[head] == pytest.approx((overlap + near + shared) / 3)
