"""The quiz: right answers are right, wrong ones get their hint, other seeds other numbers."""

import math

import pytest

from tests.viz.pages.helpers import choose, link
from tests.viz.pages.lessons.pages import errors, run, words
from viz.pages.lessons.quiz.page import COUNT, judged
from viz.pages.lessons.quiz.questions import Question, near, questions

SEEDS = range(25)


@pytest.mark.parametrize("seed", SEEDS)
def test_every_answer_is_right_and_every_slip_wrong_with_its_hint(seed: int) -> None:
    for question in questions(seed):
        told, right = judged(question, f"{question.answer:.2f}")
        assert right, question
        assert question.why in told
        for slip, hint in question.slips:
            if near(slip, question.answer):
                continue  # by chance of the numbers: it is right, then
            told, right = judged(question, f"{slip:.2f}")
            assert not right
            hints = [h for s, h in question.slips if near(slip, s)]
            assert hint in hints
            assert any(h in told for h in hints)


def test_answers_in_closed_form() -> None:
    for seed in SEEDS:
        found = {question.title: question for question in questions(seed)}
        place = int(found["A position"].picture.split("from 0</i> ")[1].split("<")[0])
        assert found["A position"].answer == pytest.approx(math.sin(place), abs=1e-6)
        n = int(found["A causal mask"].picture.split("Tokens</i> ")[1].split("<")[0])
        assert found["A causal mask"].answer == n * (n + 1) / 2
        dim = int(found["Parameters"].picture.split("Width</i> ")[1].split("<")[0])
        assert found["Parameters"].answer == 4 * dim * dim
    assert questions(1) == questions(1)
    assert questions(1) != questions(2)


def test_what_is_said_to_no_answer_and_to_words() -> None:
    question = questions(0)[0]
    assert judged(question, " ") == ("", False)
    for said in ("two", "nan", "-inf", "😀"):
        assert judged(question, said)[0].startswith("Not a number")
    assert judged(question, f"{question.answer:.2f}".replace("-", "−").replace(".", ","))[1]


def test_a_comma_stands_between_thousands_or_for_the_point() -> None:
    asked = Question("", "", "", 3600.0, "")
    assert all(judged(asked, said)[1] for said in ("3600", "3,600", "3,600.0"))
    assert not judged(asked, "3,6")[1]
    assert judged(Question("", "", "", 0.375, ""), "0,375")[1]


def test_a_slip_that_is_nearly_right_is_still_told() -> None:
    asked = Question("", "", "", 37.3, "why", ((37.5, "a plain mean"), (37.31, "hardly a slip")))
    assert judged(asked, "37.5") == ("**Not yet.** a plain mean", False)
    assert judged(asked, "37.3")[1]
    assert judged(asked, "37")[1]


def test_answering_on_the_page() -> None:
    app = run("quiz")
    assert f"Right 0 of {COUNT}" in words(app)
    question = questions(0)[0]
    choose(app, "quiz", "answer1", f"{question.answer:.2f}")
    assert f"Right 1 of {COUNT}" in words(app)
    assert "Right." in words(app)
    choose(app, "quiz", "answer1", "12345")
    assert "Not yet." in words(app)
    assert link(app) == {"answer1": "12345"}


def test_on_paper_there_is_room_for_answers_and_none_is_told() -> None:
    said = words(run("quiz", print="yes"))
    assert said.count("………") >= COUNT
    assert "Four matrices of" not in said
    assert "Four matrices of" in words(run("quiz", print="yes", reveal="yes"))


def test_all_answers_can_be_shown() -> None:
    assert "Right." not in words(run("quiz"))
    said = words(run("quiz", reveal="yes"))
    assert "Four matrices of" in said
    assert "class token: " in said
    assert not errors(run("quiz", answer4="9"))
