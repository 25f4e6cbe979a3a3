"""Self-attention by hand: the printed numbers, and that every one of them moves."""

import re

import pytest
from streamlit.testing.v1 import AppTest

from models.simple import two_words
from tests.viz.pages.helpers import choose, setting
from tests.viz.pages.lessons.pages import chosen, errors, numbers, run, whole, words
from viz.pages.lessons.by_hand.texts import FILM_TRIES, TRIES, X

PRINTED = (
    *(0.4581, 0.4829, 0.3125, 0.6150, 0.2139, 0.4118),
    *(0.5406, 0.5137, 0.5137, 0.5936),
    *(0.5067, 0.4933, 0.4800, 0.5200),
    *(0.5355, 0.3502, 0.3615, 0.5397, 0.3430, 0.3641),
)


def test_the_words_are_the_course_s() -> None:
    assert two_words()[0].tolist() == [list(row) for row in X]


def after_film(app: AppTest) -> list[float]:
    """The numbers below the film, which comes first and has one sum."""
    return numbers(app)[1:]


def test_the_printed_numbers() -> None:
    app = whole("by_hand")
    assert after_film(app)[: len(PRINTED)] == list(PRINTED)
    assert chosen(app) == {}
    assert setting(app, "by_hand", "x11") == X[0][0]


@pytest.mark.parametrize("place", ["x11", "x12", "x13", "x21", "x22", "x23"])
def test_every_number_moves(place: str) -> None:
    """One number of one word: all weights, all results, and the scores that it is in."""
    app = whole("by_hand")
    before = after_film(app)[: len(PRINTED)]
    choose(app, "by_hand", place, 0.9)
    after = after_film(app)[: len(PRINTED)]
    word = int(place[1])
    still = {0, 1, 2, 3, 4, 5} - {3 * (word - 1) + int(place[2]) - 1} | {9 if word == 1 else 6}
    assert {n for n in range(len(PRINTED)) if before[n] == after[n]} <= still
    assert float(chosen(app)[place]) == 0.9


def test_steps_hide_what_comes_later() -> None:
    app = run("by_hand", step=1)
    assert 0.5406 in numbers(app)
    assert 0.5067 not in numbers(app)
    app.button(key="lesson_forward_button").click().run()
    assert 0.5067 in numbers(app)
    assert 0.5355 not in numbers(app)
    app.button(key="lesson_back_button").click().run()
    assert 0.5067 not in numbers(app)


def test_a_longer_word_gets_what_its_link_says() -> None:
    settings = next(each.settings for each in TRIES if each.label.startswith("Word 0 three"))
    for row in (1, 2, 3):
        assert settings[f"x1{row}"] == pytest.approx(3 * X[0][row - 1], abs=1e-4)  # four decimals
    weights = after_film(whole("by_hand", **settings))[10:14]
    assert min(weights[0], weights[2]) > 0.7


def test_the_film_s_links_do_what_they_say() -> None:
    sums = []
    for each in FILM_TRIES:
        said = words(whole("by_hand", **each.settings))
        sums.append(said.split("Sum of the products: ")[1].split()[0])
    assert sums == ["−0.9400", "1.4000", "0.0000"]


def test_the_film_and_the_viewer() -> None:
    app = whole("by_hand")
    assert "Sum of the products: 0.5000" in words(app)  # 0.72 − 0.02 − 0.20
    choose(app, "by_hand", "viewer11", -0.8)
    assert "Sum of the products: −0.9400" in words(app)


def test_an_emptied_box_takes_the_number_it_began_with() -> None:
    app = whole("by_hand", x12="0.7")
    choose(app, "by_hand", "x12", 0.9)
    choose(app, "by_hand", "x12", None)
    assert setting(app, "by_hand", "x12") == 0.7
    assert chosen(app) == {"x12": "0.7"}
    assert not errors(app)


def test_large_scores_are_followed_without_infinity() -> None:
    said = words(whole("by_hand", x11="100", x12="-100"))
    assert "∞" not in said
    assert re.search(r"exp\([^)]+ − \d+\.\d{4}\) = ", said)
