"""Quiz: sums, ideas and real attention maps, and an introduction to the exercises."""

import streamlit as st
from headscope_views import view

from viz import course
from viz.course.quiz.question import Question, judged, parts, questions
from viz.pages.lessons import page as lessons
from viz.pages.state import params as link
from viz.pages.state import session
from viz.pages.widgets import controls

NAME = "quiz"
COUNT = sum(len(part.questions) for part in parts())
OPTIONS = tuple(map(str, range(6)))
PARAMS = (
    link.number("seed", 0, 0, 999),
    *(link.text(f"answer{n}", "") for n in range(1, COUNT + 1)),
    link.choice("reveal", "no", ("no", "yes")),
)


def page() -> None:
    """Draws the lesson."""
    with lessons.framed(course.lesson(NAME), *PARAMS):
        st.markdown("#### Quiz")
        lessons.text(course.lesson(NAME).prose[0])
        with st.container(key="quiz_settings", horizontal=True, gap="medium"):
            seed = int(controls.number(NAME, "seed", "Seed", (0, 999), "Seed of the numbers"))
            titles = {"no": "My own answers", "yes": "Show all answers"}
            controls.choice(NAME, "reveal", "Answers", titles, "With an explanation of each")
        asked = questions(seed)
        score = st.container()
        right, first = 0, 1
        for part in parts():
            end = first + len(part.questions)
            numbered = dict(enumerate(asked[first - 1 : end - 1], first))
            right += _part(part.title, numbered, part.columns)
            first = end
        score.markdown(f"Right: **{right} of {COUNT}**")
        lessons.heading("Exercises")
        lessons.text(course.lesson(NAME).prose[1])
        lessons.explore("What to do next: look into a trained network, with a sentence of your own")
        lessons.code(NAME, *course.lesson(NAME).code)
        lessons.takeaways(course.lesson(NAME))


def _part(title: str, asked: dict[int, Question], columns: int) -> int:
    """Shows numbered questions, some side by side; returns how many answers are right."""
    right, items = 0, list(asked.items())
    for first in range(0, len(items), columns):
        row = items[first : first + columns]
        if first == 0:
            lessons.heading(title)
        for (number, question), column in zip(row, st.columns(columns), strict=False):
            key = f"quiz_question_{number}"
            with column, st.container(border=True, height="stretch", key=key):
                right += _question(number, question)
    return right


def _question(number: int, question: Question) -> bool:
    """Shows one question and a verdict on the answer; returns whether it is right."""
    lessons.heading(f"{number} {question.title}")
    lessons.text(question.ask)
    view("given", {"board": question.given, "theme": lessons.themes()}, key=f"quiz_given_{number}")
    verdict, right = judged(question, _answer(number, question))
    if session.get(NAME, "reveal") == "yes":
        verdict = question.why
    if verdict:
        lessons.text(verdict)
    return right


def _answer(number: int, question: Question) -> str:
    name, label = f"answer{number}", f"Answer {number}"
    if not question.options:
        return controls.text_input(NAME, name, label, max_chars=20, width=180)
    titles = {"": "choose …", **dict(zip(OPTIONS, question.options, strict=False))}
    if session.get(NAME, name) not in titles:
        session.edit(NAME, {name: ""})
    return controls.select(NAME, name, label, titles, "", width=560)
