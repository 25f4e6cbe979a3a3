"""Quiz: questions about numbers on the screen, and an introduction to the exercises."""

import re
from math import isfinite, nan

import streamlit as st

from viz.pages.lessons import frame, tables
from viz.pages.lessons.frame import Try
from viz.pages.lessons.quiz.questions import QUESTIONS, ROUNDING, Question, near, questions
from viz.pages.state import params as link
from viz.pages.state import session
from viz.pages.widgets import controls

NAME = "quiz"
COUNT = len(QUESTIONS)
PLACES = tuple(map(str, range(6)))
PARAMS = (
    link.number("seed", 0, 0, 999),
    *(link.text(f"answer{n}", "") for n in range(1, COUNT + 1)),
    link.choice("reveal", "no", ("no", "yes")),
)
TEXT = (
    "Work these out on paper or with a pocket calculator; every answer can be found from the"
    " numbers beside it. Type it and press Enter: a right answer is explained; for a common mistake"
    " you get a hint. Another seed draws other numbers. In print view the answers are omitted,"
    " unless you show them all.",
)
EXERCISES = (
    "Three parts of a transformer to write yourself: multi-head self-attention, sine and cosine"
    " positions, layer normalisation. Fill in `notebooks/exercises.py` (plain Python with cells, in"
    " any editor or notebook), then run `.venv/bin/python -m notebooks.check` in the project's"
    " folder (on Windows `.venv\\Scripts\\python`). For each part it reports whether it is right,"
    " and otherwise what is wrong and where. Your code runs on your own machine only, never in this"
    " app.",
)
TRIES = (
    Try("Other numbers.", "The same questions, drawn with seed 7.", {"seed": 7}),
    Try("All the answers.", "Each with an explanation.", {"reveal": "yes"}),
)
TAKEAWAYS = (
    "Score, softmax, weighted sum: attention is three steps that fit on paper.",
    "The three exercises together are the core of a transformer.",
)


def page() -> None:
    """Draws the lesson."""
    with frame.lesson(NAME, PARAMS):
        frame.text(*TEXT)
        with st.container(horizontal=True, gap="medium"):
            seed = controls.seed(NAME, "Seed of the numbers")
            titles = {"no": "My own answers", "yes": "Show all answers"}
            controls.choice(NAME, "reveal", "Answers", titles, "With an explanation of each")
        asked = questions(seed)
        score = st.container()
        right = []
        for first in range(0, COUNT, 2):
            for place, column in zip((first, first + 1), st.columns(2), strict=True):
                with column, st.container(border=True, height="stretch"):
                    right.append(_question(place + 1, asked[place]))
        with score:
            frame.show(tables.facts(("Right", f"**{sum(right)} of {len(right)}**")))
        frame.heading("Exercises")
        frame.text(*EXERCISES)
        frame.tries(NAME, PARAMS, *TRIES)
        frame.explore("What to do next: look into a trained network, with a sentence of your own")
        from models import blocks as layernorm
        from models.attention import scores
        from models.lessons import scaling

        frame.code(NAME, scores.Dot, scaling.softened, layernorm.standardised)
        frame.takeaways(*TAKEAWAYS)


def _question(number: int, question: Question) -> bool:
    """Shows one question and a verdict on the answer; returns whether it is right."""
    frame.heading(f"{number} {question.title}")
    frame.text(question.ask)
    frame.show(question.picture)
    verdict, right = judged(question, _answer(number, question))
    if session.get(NAME, "reveal") == "yes":
        verdict = question.why
    elif frame.printing(NAME):
        choices = ", ".join(question.options)
        verdict = f"Answer{f' ({choices})' if choices else ''}: ………………………"
    if verdict:
        frame.text(verdict)
    return right


def judged(question: Question, answer: str) -> tuple[str, bool]:
    """The verdict on an answer, and whether it is right; no verdict on an empty answer."""
    if not answer.strip():
        return "", False
    found = _parsed(answer)
    if not isfinite(found):
        return "Not a number: type digits, with a decimal point if needed.", False
    distance = abs(found - question.answer)
    slips = (
        hint for slip, hint in question.slips if near(found, slip) and abs(found - slip) < distance
    )
    if distance > ROUNDING and (hint := next(slips, None)):
        return f"**Not yet.** {hint}", False
    if near(found, question.answer):
        return f"**Right.** {question.why}", True
    return "**Not yet.** Check the numbers again.", False


def _parsed(answer: str) -> float:
    """Parses a number with thousands separators or a decimal comma; NaN if invalid."""
    text = answer.strip().replace("−", "-")
    thousands = re.fullmatch(r"-?[1-9]\d{0,2}(,\d{3})+(\.\d*)?", text)
    try:
        return float(text.replace(",", "" if thousands else "."))
    except ValueError:
        return nan


def _answer(number: int, question: Question) -> str:
    name, label = f"answer{number}", f"Answer {number}"
    if not question.options:
        return controls.text_input(NAME, name, label, max_chars=20, width=180)
    titles = {"": "choose …", **dict(zip(PLACES, question.options, strict=False))}
    if session.get(NAME, name) not in titles:
        session.edit(NAME, {name: ""})
    return controls.select(NAME, name, label, titles, "", width=260)
