"""Tasks: the split is disjoint, answers are graded right, intervals hold; letters, and ids."""

from dataclasses import replace
from pathlib import Path
from random import Random
from types import SimpleNamespace

import pytest
import torch
import torch.nn.functional as F

from models.text import FileTokenizer
from train.grammar import WHOLE
from train.letters import LETTERS, SIGNS, Induction, Repeat, Reverse
from train.recipes import RECIPES
from train.task import (
    IGNORED,
    Batch,
    draw,
    exam,
    is_held_out,
    logits_of,
    loss_of,
    right,
)
from train.vocabulary import MASK, UNKNOWN, filled, padding_of, shifted

EVERY = {f"{n}: {m}": t for n, r in RECIPES.items() for m, (t, _) in r.exams.items()}


@pytest.mark.parametrize("name", EVERY)
def test_no_key_is_on_both_sides(name: str) -> None:
    task = EVERY[name]
    trained = draw(task, 300, Random("trained"))
    held_out = [*draw(task, 40, Random("held out"), held_out=True), *exam(task, 40)]
    assert not any(is_held_out(task.key(item)) for item in trained)
    assert all(is_held_out(task.key(item)) for item in held_out)
    assert not {task.key(item) for item in trained} & {task.key(item) for item in held_out}


@pytest.mark.parametrize("name", EVERY)
def test_items_follow_from_the_dice(name: str) -> None:
    task = EVERY[name]
    assert draw(task, 5, Random("same")) == draw(task, 5, Random("same"))
    assert draw(task, 5, Random("same")) != draw(task, 5, Random("other"))
    assert exam(task, 30) == exam(task, 30)
    assert len({repr(item) for item in exam(task, 30)}) == len(exam(task, 30)) >= 30


@pytest.mark.parametrize("name", EVERY)
def test_a_batch_asks_something_of_every_item(name: str) -> None:
    task = EVERY[name]
    batch = task.batch(draw(task, 7, Random("some")))
    asked = batch.target != IGNORED
    counted = asked if batch.graded is None else asked & batch.graded
    assert batch.target.shape[0] == 7
    assert counted.any(1).all()


def test_the_loss_is_what_is_graded_and_what_is_not() -> None:
    dice = torch.Generator().manual_seed(3)
    logits = torch.randn(2, 5, 7, generator=dice)
    target = torch.tensor([[1, 2, 3, IGNORED, 4], [5, 6, 0, 1, IGNORED]])
    graded = torch.tensor([[False, True, False, False, False], [False, False, True, True, False]])
    plain = F.cross_entropy(logits.flatten(0, 1), target.flatten(), ignore_index=IGNORED)
    assert loss_of(logits, Batch({}, target)) == pytest.approx(plain.item(), abs=1e-6)  # float32
    halves = [
        F.cross_entropy(logits[places], target[places])
        for places in (graded, ~graded & (target != IGNORED))
    ]
    for share in (0.5, 0.9):
        found = loss_of(logits, Batch({}, target, graded, share))
        expected = (share * halves[0] + (1 - share) * halves[1]).item()
        assert found == pytest.approx(expected, abs=1e-6)


def test_right_is_right_everywhere_that_counts() -> None:
    logits = F.one_hot(torch.tensor([[1, 2, 3], [1, 2, 3], [1, 2, 3]]), 5).float()
    target = torch.tensor([[1, 2, 3], [1, 2, 4], [1, IGNORED, 3]])
    assert right(logits, Batch({}, target)).tolist() == [True, False, True]
    graded = torch.tensor([[True, True, True], [True, False, False], [False, False, True]])
    assert right(logits, Batch({}, target, graded)).tolist() == [True, True, True]
    logits[..., 4] = 0.5  # above all but the likeliest
    rivals = torch.tensor([[IGNORED, 0, 0], [0, 0, 0], [4, 4, 4]])
    rivalled = Batch({}, target, graded, rivals=rivals)
    assert right(logits, rivalled).tolist() == [True, True, True]
    target[1, 0], rivals[1, 0] = 4, 2  # not the likeliest, but likelier than its rival
    assert right(logits, rivalled).tolist() == [True, True, True]
    rivals[1, 0] = 1
    assert right(logits, rivalled).tolist() == [True, False, True]


def test_a_network_that_answers_once_is_asked_several_questions() -> None:
    out = SimpleNamespace(logits=torch.tensor([[0.0, 1, 0, 0, 0, 1], [1, 0, 0, 0, 1, 0]]))
    batch = Batch({}, torch.tensor([[1, 2], [0, 2]]))
    assert right(logits_of(out, batch), batch).tolist() == [True, False]
    uneven = replace(batch, classes=(4, 2))  # as many answers as there are to each question
    assert logits_of(out, uneven)[0, :, :2].tolist() == [[0, 1], [0, 1]]
    assert logits_of(out, uneven).argmax(-1).tolist() == [[1, 1], [0, 0]]


def test_labels_are_the_users_text(tmp_path: Path) -> None:
    WHOLE.save(tmp_path / "tokenizer.json")
    reader = FileTokenizer(tmp_path / "tokenizer.json")
    found = reader.encode("The keys, [MASK] hedgehog old.")
    labels = ["[BEGIN]", "The", "keys", ", [UNK]", "[MASK]", "hedgehog [UNK]", "old", ".", "[END]"]
    assert list(found.labels) == labels
    assert found.ids[4] == MASK
    assert found.ids[3] == found.ids[5] == UNKNOWN
    assert reader.words == dict(enumerate(WHOLE.names))


def test_rows_are_filled_up() -> None:
    ids = filled([[3, 5, 7], [2]])
    assert ids.tolist() == [[3, 5, 7], [2, 0, 0]]
    padding = padding_of(ids)
    assert padding is not None
    assert padding.tolist() == [[False] * 3, [False, True, True]]
    assert padding_of(filled([[1], [2]])) is None
    arguments, target = shifted([[1, 3, 5, 7], [1, 2]])
    assert arguments["ids"] is not None
    assert arguments["ids"].tolist() == [[1, 3, 5], [1, 0, 0]]
    assert target.tolist() == [[3, 5, 7], [2, -100, -100]]


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
