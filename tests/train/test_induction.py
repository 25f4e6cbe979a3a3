"""Repeats come at any place, of any length, from anywhere: only looking back can solve it."""

from collections import Counter
from random import Random

import torch

from tests.roles import after_the_same
from train.induction import SIGNS, Induction, Repeat
from train.task import IGNORED, draw


def test_by_hand() -> None:
    batch = Induction().batch([Repeat("k7xqz7xqab", 5, 3), Repeat("abcab", 3, 2)])
    assert batch.graded is not None
    assert batch.graded[0].nonzero()[:, 0].tolist() == [6, 7]
    read = [SIGNS.names[i] for i in batch.target[0, batch.graded[0]].tolist()]
    assert read == ["x", "q"]
    assert batch.target[1, 5:].eq(IGNORED).all()


def test_what_is_graded_stands_behind_the_earlier_occurrence() -> None:
    for item in draw(Induction(), 200, Random("repeats")):
        batch = Induction().batch([item])
        assert batch.graded is not None
        assert batch.arguments["ids"] is not None
        ids = batch.arguments["ids"][0]
        keys = after_the_same(ids)
        places = batch.graded[0].nonzero()[:, 0]
        assert (keys[places] >= 0).all()
        assert torch.equal(ids[keys[places]], batch.target[0, places])
        assert len(set(item.text[: item.start])) == item.start  # so nothing else can be meant


def test_position_alone_tells_nothing() -> None:
    items = draw(Induction(), 2000, Random("places"))
    starts = Counter(item.start for item in items)
    lengths = Counter(item.length for item in items)
    offsets = Counter(item.start - item.text.index(item.text[item.start]) for item in items)
    for found in (starts, offsets, lengths):
        assert len(found) > 15
        assert max(found.values()) < 0.35 * len(items)  # the best guess from it is a poor one
