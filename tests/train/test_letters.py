"""Letters reversed, and repeats that only looking back can continue."""

from random import Random

from train.letters import LETTERS, SIGNS, Induction, Repeat, Reverse
from train.task import IGNORED, draw


def test_reversed_by_hand() -> None:
    batch = Reverse().batch(["stream", "ab"])
    assert batch.arguments["ids"] is not None
    assert batch.arguments["ids"][0].tolist() == LETTERS.ids("stream")
    assert batch.target[0].tolist() == LETTERS.ids("maerts")
    assert batch.target[1, 3:].tolist() == [IGNORED] * 4
    assert batch.arguments["padding"] is not None
    assert batch.arguments["padding"][1].tolist() == [False] * 3 + [True] * 4
    assert {len(item) for item in draw(Reverse(3, 7), 300, Random("x"))} == {3, 4, 5, 6, 7}


def test_a_repeat_by_hand() -> None:
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
        for place in batch.graded[0].nonzero()[:, 0].tolist():
            last = int((ids[:place] == ids[place]).nonzero()[-1])
            assert ids[last + 1] == batch.target[0, place]
        assert len(set(item.text[: item.start])) == item.start  # so nothing else can be meant
