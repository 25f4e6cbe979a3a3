"""Attention and order: a permutation changes nothing without positions; a slip in a formula."""

import math

import pytest
import torch

from models.lessons.order import SLIPS, circle, misread, permuted
from models.positional import sinusoidal

WORDS = ("the", "dog", "saw", "the", "cat")
ORDER = (3, 4, 2, 0, 1)


def test_without_positions_words_keep_their_vectors() -> None:
    found = permuted(WORDS, ORDER, positions=False)
    assert found.moved.max() < 1e-6  # sums of five numbers in another order
    assert (found.before[0] - found.before[3]).abs().max() < 1e-6  # both "the"


def test_with_positions_they_move() -> None:
    found = permuted(WORDS, ORDER, positions=True)
    assert found.moved.min() > 0.01
    assert permuted(WORDS, range(5), positions=True).moved.max() == 0


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (0, 1, 2, 3, 3), ()])
def test_an_order_that_is_none_is_refused(order: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="expected each of 5 positions once"):
        permuted(WORDS, order, positions=True)


def test_the_right_formula_is_the_table() -> None:
    table = misread(60, 32, SLIPS[0])
    assert table.equal(sinusoidal(60, 32))
    assert (circle(table) - 1).abs().max() < 1e-6


@pytest.mark.parametrize("slip", SLIPS[1:])
def test_the_slip_number_by_number(slip: str) -> None:
    table = misread(11, 6, slip)
    for place in range(11):
        for pair in range(3):
            exponent = (2 * pair + 1) / 6 if slip == SLIPS[1] else 2 * pair + 1 / 6
            assert float(table[place, 2 * pair]) == pytest.approx(
                math.sin(place / 10_000 ** (2 * pair / 6)), abs=1e-6
            )
            assert float(table[place, 2 * pair + 1]) == pytest.approx(
                math.cos(place / 10_000**exponent), abs=1e-6
            )
    assert (circle(table) - 1).abs().max() > 0.5


def test_under_the_slip_distance_alone_does_not_tell() -> None:
    right, wrong = (misread(60, 32, slip) for slip in SLIPS[:2])
    products = {name: table @ table.T for name, table in (("right", right), ("wrong", wrong))}
    near = {name: torch.diagonal(found, 7) for name, found in products.items()}
    assert near["right"].max() - near["right"].min() < 1e-4  # sums of 32 float32 products
    assert near["wrong"].max() - near["wrong"].min() > 0.5


def test_an_unknown_slip_is_refused() -> None:
    with pytest.raises(ValueError, match="slip: expected one of as it is"):
        misread(5, 4, "sine")
