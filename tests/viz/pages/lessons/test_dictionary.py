"""The soft dictionary: the course's numbers, each case, and what is refused."""

import math

import pytest

from models.lessons.dictionary import edit_distance
from tests.viz.pages.helpers import choose
from tests.viz.pages.lessons.pages import chosen, errors, numbers, whole, words
from viz.pages.lessons.dictionary.texts import FRUIT, TRIES


def test_the_first_screen_in_closed_form() -> None:
    """Edit distances of Anna to Ann, Mike, Michelle and Andrew are 1, 4, 8 and 4."""
    app = whole("dictionary")
    similar = [math.exp(-d) for d in (1, 4, 8, 4)]
    exps = [math.exp(s / 0.2) for s in similar]
    weights = [each / sum(exps) for each in exps]
    answer = sum(w * v for w, v in zip(weights, (167, 186, 170, 176), strict=True))
    found = numbers(app)
    for expected in (*similar, *exps, sum(exps), *weights, answer, 174.75):
        assert min(abs(expected - number) for number in found) < 1e-4  # printed to four decimals
    assert chosen(app) == {}


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ({"similarity": "given", "how": "none"}, ("1.1800", "199.0600", "convex cone")),
        ({"how": "average"}, ("174.7500", "average pooling", "0.2500")),
        ({"similarity": "exact", "how": "none"}, ("no valid answer", "none")),
        ({"similarity": "exact", "how": "none", "query": "Ann"}, ("database query", "167.0000")),
        ({"how": "top-k", "k": "3"}, ("convex combination", "0.3333")),
        (
            {"pairs": FRUIT, "similarity": "given", "how": "none", "query": "pi"}
            | {"given": "0.05 0.075 0.075 0.3 0.4 0.1"},
            ("brown (0.4000)", "0.3500", "cannot be averaged"),
        ),
        (
            {"pairs": FRUIT, "query": "pickles", "similarity": "exact", "how": "none"},
            ("green (1.0000)", "database query"),
        ),
    ],
)
def test_the_cases(query: dict[str, str], said: tuple[str, ...]) -> None:
    app = whole("dictionary", **query)
    for part in said:
        assert part in words(app)
    assert not errors(app)


def test_a_value_that_is_no_number_is_a_word() -> None:
    assert "cannot be averaged" in words(whole("dictionary", pairs="Ann: nan\nMike: 180"))


def test_pickles_that_are_not_there() -> None:
    """By meaning the nearest key is pineapple, as courses tell it; by letters it is apple."""
    by_name = {each.label: each.settings for each in TRIES}
    assert "Answer brown" in words(
        whole("dictionary", **by_name["“pickles”, which are not in the dictionary."])
    )
    said = words(whole("dictionary", **by_name["The same by letters."]))
    assert "apple green 5" in said
    assert "Answer green" in said


def test_meaning_needs_no_letters() -> None:
    settings = next(each.settings for each in TRIES if "citrus" in each.label)
    said = words(whole("dictionary", **settings))
    assert "Answer orange" in said
    assert edit_distance("citrus", "orange") == 6


def test_negative_similarities_are_refused_with_the_reason_and_shown() -> None:
    app = whole("dictionary", similarity="given", given="0.9 -0.3 0.2 -0.1", how="sum")
    (line,) = errors(app)
    assert "received −0.3000".replace("−", "-") in line
    assert "negative weight" in line
    assert "−0.3000" in words(app)
    choose(app, "dictionary", "how", "softmax")
    assert not errors(app)


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ({"pairs": "nonsense"}, "expected “key: value” in each line"),
        ({"pairs": "\n".join(f"{n}: {n}" for n in range(13))}, "expected 1 to 12 entries"),
        ({"similarity": "given", "given": "1 2"}, "expected 4 numbers, one a key, received 2"),
        ({"similarity": "given", "given": "one"}, "expected numbers, received “one”"),
        ({"query": " "}, "expected a query"),
        ({"query": "x" * 10_000}, "expected a query of 1 to 40 letters, received 10000"),
        ({"similarity": "given", "given": "nan 1 1 1"}, "expected similarities from −1000 to 1000"),
        ({"similarity": "given", "given": "1e30 1 1 1"}, "expected similarities from"),
        ({"pairs": "Ann: 1e300\nBob: 2"}, "expected values from −1,000,000 to 1,000,000"),
    ],
)
def test_what_makes_no_sense_is_one_line(query: dict[str, str], told: str) -> None:
    (line,) = errors(whole("dictionary", **query))
    assert told in line


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("pairs", "Ann: 150\nMike: 160\nMichelle: 190\nAndrew: 170"),
        ("query", "Michel"),
        ("similarity", "embedding"),
        ("how", "none"),
        ("temperature", 1.0),
    ],
)
def test_every_control_moves_the_answer_and_the_link(name: str, other: object) -> None:
    app = whole("dictionary")
    before = answer(words(app))
    choose(app, "dictionary", name, other)
    assert answer(words(app)) != before
    assert chosen(app)[name] == str(other)


def answer(text: str) -> str:
    return text.split(" Answer ")[1].split()[0]


def test_what_a_reader_types_stays_text() -> None:
    app = whole("dictionary", pairs="<b>x</b>: 1\n[[softmax]]: 2", query="**q**")
    bodies = " ".join(element.proto.body for element in app.get("html"))
    assert "&lt;b&gt;x&lt;/b&gt;" in bodies
    assert "[[softmax]]" in bodies


def test_equal_weights_are_told_for_what_they_are() -> None:
    asked = words(whole("dictionary", similarity="exact", how="softmax"))
    assert "equally similar" in asked
    assert "mean of the values" in asked
    assert "no longer" not in asked.split("To take away")[0].split("Try this")[0]
    assert "no longer matters" in words(whole("dictionary", how="average"))
    colours = words(whole("dictionary", how="average", pairs="a: red\nb: blue"))
    assert "mean of the values" not in colours
    assert "red or blue (0.5000 each)" in colours


def test_exponentials_that_cannot_be_read_are_shifted() -> None:
    said = words(
        whole("dictionary", similarity="given", given="1000 -1000 0 0", temperature="0.05")
    )
    assert "∞" not in said
    assert "exp(s / T − 20000.0000) " in said
    assert "exp(s / T − (−4000.0000))" in words(
        whole("dictionary", similarity="given", given="-200 -200 -200 -200", temperature="0.05")
    )
