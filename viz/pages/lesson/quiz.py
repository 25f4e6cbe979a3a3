"""Quiz: questions about numbers on the screen, and the way to the exercises."""

import streamlit as st

from viz import link
from viz.pages import controls
from viz.pages.lesson import frame, tables
from viz.pages.lesson.quiz_form import Question, near
from viz.pages.lesson.quiz_questions import QUESTIONS, questions

NAME = "quiz"
COUNT = len(QUESTIONS)
PLACES = tuple(map(str, range(6)))
PARAMS = (
    link.number("seed", 0, 0, 999),
    *(link.text(f"answer{n}", "") for n in range(1, COUNT + 1)),
    link.choice("reveal", "no", ("no", "yes")),
)
TEXT = (
    "Work these out on paper or in your head; every answer can be found from the numbers beside it."
    " A wrong answer says what went wrong where that can be told, a right one says why. Another"
    " seed draws other numbers.",
)
EXERCISES = (
    "Three parts of a transformer to write yourself: multi-head self-attention, sine and cosine"
    " positions, layer normalisation. Fill in `notebooks/exercises.py` (plain Python with cells, in"
    " any editor or notebook), then run `python -m notebooks.check` in the project's folder. It"
    " says for each whether it is right, and otherwise what is wrong and where. Your code runs on"
    " your own machine only, never in this app.",
)
TRIES = (
    frame.Try("Other numbers.", "The same questions, drawn with seed 7.", {"seed": 7}),
    frame.Try("All the answers.", "Each with how it comes about.", {"reveal": "yes"}),
)
TAKEN = (
    "Score, softmax, weighted sum: attention is three steps that fit on paper.",
    "Whoever can write the three exercises has written the heart of a transformer.",
)


def draw() -> None:
    """The lesson, top to bottom."""
    frame.text(*TEXT)
    with st.container(horizontal=True, gap="medium"):
        controls.seed(NAME, "Draws other numbers")
        titles = {"no": "My own answers", "yes": "Show all answers"}
        controls.choice(NAME, "reveal", "Answers", titles, "With how each comes about")
    asked = questions(st.session_state[f"{NAME}_seed"])
    score = st.container()
    right = [_question(n, question) for n, question in enumerate(asked, 1)]
    with score:
        frame.show(tables.facts(("Right", f"**{sum(right)} of {len(right)}**")))
    frame.heading("Exercises")
    frame.text(*EXERCISES)
    frame.tries(NAME, *TRIES)
    from models import layernorm, scores
    from models.lessons import scaling

    frame.code(NAME, scores.Dot, scaling.softened, layernorm.standardised)
    frame.took(*TAKEN)


def _question(number: int, question: Question) -> bool:
    """Shows one question and what it says to the answer; whether that is right."""
    frame.heading(f"{number} {question.title}")
    frame.text(question.ask)
    frame.show(question.picture)
    said = _answer(number, question)
    told, right = judged(question, said)
    if st.session_state[f"{NAME}_reveal"] == "yes" or frame.printing(NAME):
        told = question.why
    if told:
        frame.text(told)
    return right


def judged(question: Question, said: str) -> tuple[str, bool]:
    """What is said to an answer, and whether it is right; nothing to no answer."""
    if not said.strip():
        return "", False
    try:
        found = float(said.replace("−", "-").replace(",", "."))
    except ValueError:
        return "Not a number: type digits, with a point if need be.", False
    if near(found, question.answer):
        return f"**Right.** {question.why}", True
    hint = next((told for slip, told in question.slips if near(found, slip)), "")
    return f"**Not yet.** {hint or 'Follow the numbers once more.'}", False


def _answer(number: int, question: Question) -> str:
    key = f"{NAME}_answer{number}"
    if not question.options:
        return st.text_input(
            f"Answer {number}", key=key, max_chars=20, persist_state="session", width=180
        )
    places = ("", *PLACES[: len(question.options)])
    if st.session_state[key] not in places:
        st.session_state[key] = ""
    return st.selectbox(
        f"Answer {number}",
        places,
        format_func=lambda place: question.options[int(place)] if place else "choose …",
        key=key,
        persist_state="session",
        width=260,
    )
