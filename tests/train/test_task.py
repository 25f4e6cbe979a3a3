"""The split is disjoint by construction, answers are graded right, and intervals hold."""

from dataclasses import replace
from random import Random
from types import SimpleNamespace

import pytest
import torch
import torch.nn.functional as F

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
