"""Letters rearranged, brackets and clocks: what is asked is what a slow reader would answer."""

from random import Random

import pytest

from train.sequences import (
    BRACKETS,
    FINE,
    LETTERS,
    WRONG,
    Brackets,
    Modular,
    Rearrange,
    first_wrong,
)
from train.task import IGNORED, draw


def test_rearranged_by_hand() -> None:
    answers = {"reverse": "maerts", "copy": "stream", "sort": "aemrst"}
    for order, answer in answers.items():
        batch = Rearrange(order).batch(["stream", "ab"])
        assert batch.arguments["ids"] is not None
        assert batch.arguments["ids"][0].tolist() == LETTERS.ids("stream")
        assert batch.target[0].tolist() == LETTERS.ids(answer)
        assert batch.target[1, 3:].tolist() == [IGNORED] * 4
        assert batch.arguments["padding"] is not None
        assert batch.arguments["padding"][1].tolist() == [False] * 3 + [True] * 4


def test_lengths_of_all_kinds() -> None:
    items = draw(Rearrange(shortest=3, longest=7), 300, Random("lengths"))
    assert {len(item) for item in items} == {3, 4, 5, 6, 7}
    with pytest.raises(ValueError, match=r"order: expected one of .*, received 'shuffle'"):
        Rearrange("shuffle")


def test_brackets_by_hand() -> None:
    wrong = {"()": None, "([])[]": None, "(": 0, ")(": 0, "([)]": 2, "[()": 0, "(()": 0, "[]]": 2}
    assert {text: first_wrong(text) for text in wrong} == wrong


def test_balanced_is_what_vanishes_pair_by_pair() -> None:
    """The slow oracle: take neighbours () and [] out until none is left."""
    items = draw(Brackets(), 500, Random("brackets"))
    for item in items:
        left = item
        while "()" in left or "[]" in left:
            left = left.replace("()", "").replace("[]", "")
        assert (first_wrong(item) is None) == (not left)
    balanced = sum(first_wrong(item) is None for item in items)
    assert 180 < balanced < 320  # half of 500, give or take six deviations


def test_brackets_are_asked_one_by_one_and_at_the_end() -> None:
    batch = Brackets().batch(["()", "(]"])
    assert batch.target.tolist() == [[FINE, FINE, FINE], [FINE, WRONG, WRONG]]
    assert batch.arguments["ids"] is not None
    assert batch.arguments["ids"].tolist() == [BRACKETS.ids("()"), BRACKETS.ids("(]")]


def test_a_clock_of_seven() -> None:
    task = Modular(7)
    batch = task.batch([(5, 4), (0, 6)])
    names = task.vocabulary.names
    assert [names[i] for i in batch.target[:, 3].tolist()] == ["2", "6"]
    assert batch.target[:, :3].eq(IGNORED).all()
    assert len(task.every) == 49
    assert task.key((3, 5)) == task.key((5, 3))  # which are the same sum
