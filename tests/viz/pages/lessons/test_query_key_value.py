"""Query, key, value: the printed numbers of both readings, and that every one of them moves."""

import pytest

from models.simple import columns_and_matrices
from tests.viz.pages.helpers import choose
from tests.viz.pages.lessons.pages import chosen, numbers, run, whole, words
from viz.pages.lessons.query_key_value import texts

PRINTED = (
    *(0.5076, 0.4924, 0.5424, 0.4576, 0.6633, 0.7452, 0.6544, 0.7330),  # word by word
    *(0.1481, -0.3337, -0.3777, -0.9685, 0.5206, 0.7036, 0.5168, 0.7022),  # q and k as columns
    *(0.5370, 0.7935, 0.5728, 0.9229),  # v
    *(0.5000, 0.5000, 0.4996, 0.5004, 0.5549, 0.8582, 0.5549, 0.8583),
)


def test_the_numbers_are_the_course_s() -> None:
    x, matrices = columns_and_matrices()
    for drawn, held in zip(
        (x[0], *matrices),
        (texts.X, texts.QUERY, texts.KEY, texts.VALUE),
        strict=True,
    ):
        assert drawn.tolist() == [list(row) for row in held]


def test_the_printed_numbers_in_their_order() -> None:
    found = numbers(whole("query_key_value"))
    place = -1
    for printed in PRINTED:
        place = found.index(printed, place + 1)


@pytest.mark.parametrize(
    ("edit", "place"),
    [("x", "x11"), ("x", "x32"), ("q", "q12"), ("q", "q23"), ("k", "k11"), ("v", "v13")],
)
def test_a_changed_number_moves_what_follows_from_it(edit: str, place: str) -> None:
    app = whole("query_key_value", edit=edit)
    before = numbers(app)
    choose(app, "query_key_value", place, 3.0)
    after = numbers(app)
    moved = sum(a != b for a, b in zip(before, after, strict=True))
    assert moved >= (12 if edit == "v" else 20)
    assert chosen(app) == {"edit": edit, place: "3.0"} or edit == "x"


def test_every_result_moves_with_the_words() -> None:
    app = whole("query_key_value")
    before = numbers(app)
    for place in ("x11", "x12"):
        choose(app, "query_key_value", place, 0.9)
    after = numbers(app)
    assert len(before) == len(after)
    still = [a for a, b in zip(before, after, strict=True) if a == b]
    assert set(still).isdisjoint(set(PRINTED) - {0.5000})


@pytest.mark.parametrize("word", [0, 1])
def test_the_four_steps_of_a_word(word: int) -> None:
    said = words(run("query_key_value", word=word, step=3))
    assert f"q {word} ·k 0 / √2 = (" in said
    assert ("0.1481·0.5206 + (−0.3777·0.5168)" in said) == (word == 0)
    assert ("(0.6633, 0.7452)" if word == 0 else "(0.6544, 0.7330)") in said
    earlier = words(run("query_key_value", word=word, step=1))
    assert "3 Softmax." not in earlier
    assert "QKᵀ / √3" in earlier


def test_what_goes_in_is_on_the_page_whatever_is_changed() -> None:
    """The words and all three matrices, also those whose boxes are not shown."""
    shown = set(numbers(run("query_key_value", edit="v", step=0)))
    for held in (texts.X, texts.QUERY, texts.KEY):
        assert {round(value, 4) for row in held for value in row} <= shown


def test_larger_queries_do_what_the_link_says() -> None:
    settings = next(each.settings for each in texts.TRIES if each.label == "Larger queries.")
    found = numbers(whole("query_key_value", **settings))
    assert {0.8458, 0.1542} <= set(found)


def test_one_reading_at_a_time() -> None:
    assert "QKᵀ / √3" not in words(whole("query_key_value", reading="word"))
    assert "√2, the width of a key" not in words(whole("query_key_value", reading="columns"))
