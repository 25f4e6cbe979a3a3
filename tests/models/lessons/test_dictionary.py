"""The soft dictionary: similarities, weights, mixtures, and the cases a course lists."""

import math

import pytest
import torch

from models.lessons.dictionary import (
    CASES,
    NORMALISATIONS,
    case,
    contributions,
    edit_distance,
    edits,
    embedded,
    exact,
    exponentials,
    meaning,
    normalised,
    pooled,
    shares,
)
from models.run import load

HEIGHTS = torch.tensor([[167.0], [186.0], [170.0], [176.0]])
GIVEN = torch.tensor([0.98, 0.05, 0.05, 0.1])
SOME = torch.tensor([0.3, -0.2, 1.1, 0.7, 0.0])


def test_the_numbers_of_the_course() -> None:
    assert float(GIVEN.sum()) == pytest.approx(1.18)
    answer = 0.98 * 167 + 0.05 * 186 + 0.05 * 170 + 0.1 * 176
    assert float(pooled(GIVEN, HEIGHTS)) == pytest.approx(answer, abs=1e-4)  # float32 of 199
    assert contributions(GIVEN, HEIGHTS).sum(0).tolist() == pytest.approx([answer])
    assert case(GIVEN) == "convex cone"
    even = normalised(GIVEN, "average")
    assert float(pooled(even, HEIGHTS)) == 174.75
    assert case(even) == "average pooling"
    assert case(normalised(GIVEN, "sum")) == "convex combination"
    fruit = torch.tensor([0.05, 0.075, 0.075, 0.3, 0.4, 0.1])
    assert case(fruit) == "convex combination"
    colours = ["green", "yellow", "orange", "green", "brown", "crimson"]
    assert shares(fruit, colours) == pytest.approx(
        {"green": 0.35, "yellow": 0.075, "orange": 0.075, "brown": 0.4, "crimson": 0.1}
    )


def test_exact_match_is_a_database_query() -> None:
    keys = ["apple", "pickles", "pineapple"]
    assert exact("pickles", keys).tolist() == [0, 1, 0]
    assert case(exact("pickles", keys)) == "database query"
    assert case(exact("pear", keys)) == "no valid answer"
    for how in ("one-hot", "top-k"):
        assert case(normalised(exact("pear", keys), how)) == "no valid answer"


@pytest.mark.parametrize(
    ("first", "second", "steps"),
    [("", "", 0), ("", "abc", 3), ("Ann", "Anna", 1), ("kitten", "sitting", 3), ("ab", "ba", 2)],
)
def test_edit_distance(first: str, second: str, steps: int) -> None:
    assert edit_distance(first, second) == edit_distance(second, first) == steps


def test_edit_distance_against_plain_recursion() -> None:
    def plain(a: str, b: str) -> int:
        if not a or not b:
            return len(a) + len(b)
        replaced = plain(a[1:], b[1:]) + (a[0] != b[0])
        return min(replaced, plain(a[1:], b) + 1, plain(a, b[1:]) + 1)

    names = ("Ann", "Mike", "Miche", "Andre", "pi")
    for a in names:
        for b in names:
            assert edit_distance(a, b) == plain(a, b)
    assert edits("Anna", ["Ann", "Anna"]).tolist() == pytest.approx([math.exp(-1), 1])


def test_normalisations_in_closed_form() -> None:
    assert normalised(SOME, "none") is SOME
    exps, shift = exponentials(SOME, 0.5)
    assert shift == 0
    assert exps.tolist() == pytest.approx([math.exp(2 * s) for s in SOME.tolist()])
    assert torch.allclose(exps / exps.sum(), normalised(SOME, "softmax", temperature=0.5))
    assert normalised(SOME, "one-hot").tolist() == [0, 0, 1, 0, 0]
    assert normalised(SOME, "top-k").tolist() == [0, 0, 0.5, 0.5, 0]
    exps = [math.exp(value / 0.5) for value in SOME.tolist()]
    expected = [each / sum(exps) for each in exps]
    assert normalised(SOME, "softmax", temperature=0.5).tolist() == pytest.approx(expected)
    assert normalised(SOME.abs(), "sum").tolist() == pytest.approx(
        [each / 2.3 for each in SOME.abs().tolist()]
    )


@pytest.mark.parametrize("far", [-900.0, 900.0])
def test_exponentials_that_no_number_holds_are_of_the_distance_to_the_best(far: float) -> None:
    exps, shift = exponentials(SOME + far, 0.5)
    assert shift == pytest.approx(2 * (1.1 + far))
    # float32 numbers near 900 are 6e-5 apart, and the temperature doubles that
    assert exps.tolist() == pytest.approx(
        [math.exp(2 * (s - 1.1)) for s in SOME.tolist()], rel=3e-4
    )


def test_dividing_by_the_sum_is_refused_with_a_reason() -> None:
    with pytest.raises(ValueError, match=r"received -0\.2000: a negative one"):
        normalised(SOME, "sum")
    with pytest.raises(ValueError, match="only zeros"):
        normalised(torch.zeros(3), "sum")
    with pytest.raises(ValueError, match="expected one of none, one-hot"):
        normalised(SOME, "magic")


def test_every_case_is_met() -> None:
    met = {
        case(torch.tensor(weights))
        for weights in (
            [0.0, 0.0],
            [0.0, 1.0],
            [0.5, 0.5],
            [0.25, 0.75],
            [0.5, 0.75],
            [1.5, -0.5],
        )
    }
    assert met == set(CASES)
    assert case(torch.tensor([1.0])) == "database query"
    assert case(torch.tensor([1.0, 1.0])) == "convex cone"
    assert all(case(normalised(SOME.abs(), how)) in CASES for how in NORMALISATIONS)


def test_meaning_is_the_mean_of_hidden_states() -> None:
    model = load("minilm")
    ann, anna, fruit = (meaning(model, text) for text in ("Ann", "Anna", "banana"))
    assert float(ann.norm()) == pytest.approx(1)
    found = embedded(anna, torch.stack([ann, fruit]))
    assert found[0] > found[1]
    assert float(embedded(ann, ann[None])) == pytest.approx(1)
