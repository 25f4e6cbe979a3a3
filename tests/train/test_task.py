"""The split is disjoint by construction, answers are graded right, and intervals hold."""

from math import comb
from random import Random
from types import SimpleNamespace

import pytest
import torch
import torch.nn.functional as F

from train.recipes import RECIPES
from train.task import IGNORED, Batch, Score, draw, exam, is_held_out, loss_of, right

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
    out = SimpleNamespace(logits=logits)
    plain = F.cross_entropy(logits.flatten(0, 1), target.flatten(), ignore_index=IGNORED)
    assert loss_of(out, Batch({}, target)) == pytest.approx(plain.item(), abs=1e-6)  # float32
    halves = [
        F.cross_entropy(logits[places], target[places])
        for places in (graded, ~graded & (target != IGNORED))
    ]
    for share in (0.5, 0.9):
        found = loss_of(out, Batch({}, target, graded, share))
        expected = (share * halves[0] + (1 - share) * halves[1]).item()
        assert found == pytest.approx(expected, abs=1e-6)


def test_right_is_right_everywhere_that_counts() -> None:
    logits = F.one_hot(torch.tensor([[1, 2, 3], [1, 2, 3], [1, 2, 3]]), 5).float()
    target = torch.tensor([[1, 2, 3], [1, 2, 4], [1, IGNORED, 3]])
    out = SimpleNamespace(logits=logits)
    assert right(out, Batch({}, target)).tolist() == [True, False, True]
    graded = torch.tensor([[True, True, True], [True, False, False], [False, False, True]])
    assert right(out, Batch({}, target, graded)).tolist() == [True, True, True]
    logits[..., 4] = 0.5  # above all but the likeliest
    rivals = torch.tensor([[IGNORED, 0, 0], [0, 0, 0], [4, 4, 4]])
    rivalled = Batch({}, target, graded, rivals=rivals)
    assert right(out, rivalled).tolist() == [True, True, True]
    target[1, 0], rivals[1, 0] = 4, 2  # not the likeliest, but likelier than its rival
    assert right(out, rivalled).tolist() == [True, True, True]
    rivals[1, 0] = 1
    assert right(out, rivalled).tolist() == [True, False, True]


def test_a_network_that_answers_once_is_asked_several_questions() -> None:
    logits = torch.tensor([[0.0, 1, 0, 0, 0, 1], [1, 0, 0, 0, 1, 0]])
    out, target = SimpleNamespace(logits=logits), torch.tensor([[1, 2], [0, 2]])
    assert right(out, Batch({}, target)).tolist() == [True, False]


@pytest.mark.parametrize(("count", "of"), [(0, 7), (7, 7), (497, 500), (13, 31)])
def test_the_interval_is_wilsons(count: int, of: int) -> None:
    """Its ends are the shares p for which the count lies 1.96 standard deviations away."""
    low, high = Score(count, of).interval
    for end in (low, high):
        if 0 < end < 1:
            deviation = (end * (1 - end) / of) ** 0.5
            assert abs(count / of - end) == pytest.approx(1.959964 * deviation, rel=1e-6)
    assert 0 <= low <= count / of <= high <= 1


def test_the_interval_covers() -> None:
    """Over all outcomes of 200 coins that fall right with 0.9, about 95 % of intervals hold 0.9."""
    covered = sum(
        comb(200, k) * 0.9**k * 0.1 ** (200 - k)
        for k in range(201)
        if Score(k, 200).interval[0] <= 0.9 <= Score(k, 200).interval[1]
    )
    assert 0.93 < covered < 0.97
