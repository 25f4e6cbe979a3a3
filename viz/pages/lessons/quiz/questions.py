"""The questions of the quiz, in their order."""

from collections.abc import Sequence
from typing import NamedTuple

from viz.pages.lessons.quiz import exercises, ideas, maps, sums
from viz.pages.lessons.quiz.question import Maker, Question, drawn


class Part(NamedTuple):
    """Questions of one kind; `columns` of them stand side by side."""

    title: str
    makers: Sequence[Maker]
    columns: int


PARTS = (
    Part("With a pocket calculator", sums.QUESTIONS, 2),
    Part("Ideas", ideas.QUESTIONS, 2),
    Part("Reading the maps of trained networks", maps.QUESTIONS, 1),
    Part("Before you write the code", exercises.QUESTIONS, 2),
)
QUESTIONS = tuple(make for part in PARTS for make in part.makers)


def questions(seed: int) -> tuple[Question, ...]:
    """All questions with the numbers of a seed."""
    return tuple(drawn(make, seed) for make in QUESTIONS)
