"""Letters rearranged: what is asked is what a slow reader would answer."""

from random import Random

import pytest

from train.sequences import LETTERS, Rearrange
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
