"""Roles of heads, on weights whose answer is known by construction."""

import pytest
import torch
import torch.nn.functional as F

from tests.roles import after_the_same, mirrored, previous_token, role_hits, role_score


def test_a_head_that_does_nothing_else_scores_one() -> None:
    shift = F.one_hot(previous_token(7).clamp(min=0), 7).float()
    mirror = F.one_hot(mirrored(7), 7).float()
    uniform = torch.full((7, 7), 1 / 7)
    weights = torch.stack([shift, mirror, uniform])
    assert role_score(weights, previous_token(7)).tolist() == pytest.approx([1, 0, 1 / 7])
    assert role_score(weights, mirrored(7))[1] == 1
    assert role_hits(weights[:2], previous_token(7)).tolist() == pytest.approx([1, 0])
    # of 7 tokens none is its neighbour's mirror image: that takes an even number


def test_the_first_token_has_none_before_it() -> None:
    weights = torch.zeros(5, 5)
    weights[0, 4] = 1  # wherever the first looks, it does not count
    weights[range(1, 5), range(4)] = 0.25
    assert role_score(weights, previous_token(5)) == 0.25


def test_after_the_same_by_hand_and_by_a_slow_loop() -> None:
    assert after_the_same(torch.tensor([3, 5, 3, 5, 5, 2])).tolist() == [-1, -1, 1, 2, 4, -1]
    dice = torch.Generator().manual_seed(5)
    ids = torch.randint(7, (41,), generator=dice)
    slow = []
    for query in range(41):
        earlier = [key for key in range(query) if ids[key] == ids[query]]
        slow.append(earlier[-1] + 1 if earlier else -1)
    assert after_the_same(ids).tolist() == slow


def test_nothing_to_do_is_an_error() -> None:
    with pytest.raises(ValueError, match="at least one query"):
        role_score(torch.eye(3), after_the_same(torch.tensor([1, 2, 3])))
