"""The quiz: right answers are right, wrong ones get their hint, other seeds other numbers."""

import math
import re

import pytest
import torch

from models.run import load, trace
from tests.viz.pages.helpers import choose, link
from tests.viz.pages.lessons.pages import errors, run, words
from viz.course.quiz.question import (
    Question,
    Written,
    drawn,
    judged,
    parsed,
    parts,
    questions,
)
from viz.pages.lessons.quiz import COUNT

SEEDS = range(25)
QUESTIONS = [each for part in parts() for each in part.questions]


@pytest.mark.parametrize("written", QUESTIONS, ids=lambda each: each.name)
def test_no_common_mistake_is_ever_right(written: Written) -> None:
    """Over 1,000 seeds: each mistake gets a hint of its own, typed exactly or rounded."""
    for seed in range(1000):
        question = drawn(written, seed)
        for typed in (f"{question.answer:.2f}", repr(question.answer)):
            assert judged(question, typed) == (f"**Right.** {question.why}", True)
        for slip, hint in question.slips:
            for typed in (f"{slip:.2f}", repr(float(slip))):
                assert judged(question, typed) == (f"**Not yet.** {hint}", False), (seed, typed)
        if question.options:
            wrong = {int(slip) for slip, _ in question.slips}
            assert wrong | {int(question.answer)} == set(range(len(question.options)))
            assert len(set(question.options)) == len(question.options)


def test_the_maps_say_what_the_networks_compute() -> None:
    """The answers again, from the picture's own table and from a trace of the same text."""
    model = load("induction")
    for seed in SEEDS[:6]:
        induction, _, missing, _ = questions(seed)[14:18]
        letter = re.search(r"last “(\w)”", induction.ask)
        assert letter
        ((given,),) = induction.given["rows"]
        labels = [each.split(" ", 1)[1] for each in given["rows"]]
        last = given["values"][-1]
        best = last.index(max(last))
        assert induction.options[int(induction.answer)] == f"“{labels[best]}” at position {best}"
        assert labels[best - 1] == letter[1]
        at = int(missing.ask.split("at position ")[1].split(",")[0])
        ((given,),) = missing.given["rows"]
        word = "".join(each.split(" ", 1)[1] for each in given["cols"][:6])
        if len(word) == 6:  # the row is long enough to show the whole word
            weights = trace(model, f"{word} {word[:3]}").weights(layer=0, head=0)
            assert missing.answer == pytest.approx(float(weights[at, 0]), abs=1e-5)


@pytest.mark.parametrize(
    ("typed", "value"),
    [
        ("3/8", 0.375),
        ("−3 / 8", -0.375),
        ("37.5 %", 0.375),
        ("37,5%", 0.375),
        ("0,375", 0.375),
        ("3,600", 3600.0),
        ("3,600.5", 3600.5),
        ("1/2 %", 0.005),
        *((typed, math.nan) for typed in ("1/0", "3/", "%", "/", "a/b", "1//2")),
    ],
)
def test_fractions_percent_and_commas(typed: str, value: float) -> None:
    assert parsed(typed) == pytest.approx(value, nan_ok=True)


def given_by(question: Question) -> dict[str, int]:
    """The whole numbers that a question gives, by name."""
    ((given,),) = question.given["rows"]
    pairs = zip(given["cols"], given["values"][0], strict=True)
    return {name: int(value) for name, value in pairs if value.isdecimal()}


def test_answers_in_closed_form() -> None:
    for seed in SEEDS:
        found = {question.title: question for question in questions(seed)}
        place = given_by(found["A position"])["Position, counted from 0"]
        assert found["A position"].answer == pytest.approx(math.sin(place), abs=1e-6)
        n = given_by(found["A causal mask"])["Tokens"]
        assert found["A causal mask"].answer == n * (n + 1) / 2
        dim = given_by(found["Parameters"])["Width"]
        assert found["Parameters"].answer == 4 * dim * dim
        ((tokens,),) = found["Which mean?"].given["rows"]
        assert found["Which mean?"].answer == pytest.approx(sum(tokens["values"][0]) / 3, abs=1e-5)
    assert questions(1) == questions(1)
    assert questions(1) != questions(2)


def test_the_line_that_cuts_queries_into_heads_is_run() -> None:
    """Of every option; the right one gives slices taken one by one."""
    for seed in SEEDS:
        (question,) = (each for each in questions(seed) if each.title == "Cut into heads")
        facts = given_by(question)
        n, dim, heads = (facts[name] for name in ("Tokens", "Width", "Heads"))
        width = dim // heads
        q = torch.arange(n * dim).reshape(n, dim)
        wanted = torch.stack([q[:, head * width : (head + 1) * width] for head in range(heads)])
        results = [eval(line, {"q": q}) for line in question.options]
        right = [each.shape == wanted.shape and bool((each == wanted).all()) for each in results]
        assert right == [at == question.answer for at in range(4)]


def test_what_is_said_to_no_answer_and_to_words() -> None:
    question = questions(0)[0]
    assert judged(question, " ") == ("", False)
    for said in ("two", "nan", "-inf", "😀"):
        assert judged(question, said)[0].startswith("Not a number")
    assert judged(question, f"{question.answer:.2f}".replace("-", "−").replace(".", ","))[1]


def test_answering_on_the_page() -> None:
    app = run("quiz")
    assert f"Right: **0 of {COUNT}**" in [each.value for each in app.markdown]
    question = questions(0)[0]
    choose(app, "quiz", "answer1", f"{question.answer:.2f}")
    assert f"Right: **1 of {COUNT}**" in [each.value for each in app.markdown]
    assert "Right." in words(app)
    choose(app, "quiz", "answer1", "12345")
    assert "Not yet." in words(app)
    assert link(app) == {"answer1": "12345"}


def test_all_answers_can_be_shown() -> None:
    assert "Right." not in words(run("quiz"))
    said = words(run("quiz", reveal="yes"))
    assert "Four matrices of" in said
    assert "class token: " in said
    assert not errors(run("quiz", answer4="9"))
