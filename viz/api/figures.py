"""The numbers of the course's figures, computed by `viz.lessons` for a reader's inputs."""

import importlib
import inspect
from collections.abc import Callable
from typing import Any

from viz.api import requests
from viz.api.registry import UnknownError
from viz.api.requests import Parse, QuestionError
from viz.lessons import course, inputs
from viz.lessons.inputs import Input, InputError
from viz.values import whole

MAX_INPUT = 700  # characters of an input: of a list of numbers
BOARD = "board"  # the parameter that names a step whose picture is a board


def numbers(name: str, query: list[tuple[str, str]]) -> Callable[[], dict[str, Any]]:
    """A function that computes the numbers of a lesson's figure, after validation of its inputs.

    Inputs that the query lacks are as at the start.

    Raises:
        UnknownError: there is no such figure.
        QuestionError: for invalid inputs; the function raises it, too.
    """
    lesson = course.find(name)
    if lesson is None or not lesson.steps:
        raise UnknownError(name)
    parsers = {each: parser(about) for each, about in lesson.inputs.items()}
    parsers[BOARD] = requests.one_of(*(step.name for step in lesson.steps if step.board))
    given = requests.parse_query(query, {}, parsers, MAX_INPUT)
    step = given.pop(BOARD, None)
    values = {each: _start(about) for each, about in lesson.inputs.items()} | given

    def compute() -> dict[str, Any]:
        module = importlib.import_module(f"viz.lessons.{name}.numbers")
        try:
            accepted = inspect.signature(module.numbers).parameters  # others are of boards alone
            answer = module.numbers(**{name: values[name] for name in accepted})
            return answer if step is None else {**answer, BOARD: module.BOARDS[step](values)}
        except InputError as error:
            raise QuestionError(str(error)) from None

    return compute


def parser(about: Input) -> Parse:
    """The parser of an input."""
    match about:
        case inputs.Count():
            return whole(about.low, about.high)
        case inputs.Within():
            return requests.within(about.low, about.high)
        case inputs.Reals():
            return requests.reals(len(about.start), about.most)
        case inputs.OneOf():
            return requests.one_of(*about.choices)
        case inputs.Word():
            return requests.word
        case inputs.Sentence():
            return requests.sentence


def _start(about: Input) -> Any:
    """The value of an input at the start, as its parser gives it."""
    if isinstance(about, inputs.Reals):
        return list(map(float, about.start))
    return float(about.start) if isinstance(about, inputs.Within) else about.start
