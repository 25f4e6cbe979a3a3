"""The numbers of the course's figures, computed by `viz.course` for a reader's inputs."""

import importlib
import inspect
from collections.abc import Callable, Mapping
from typing import Any

from viz import course
from viz.api import tracing
from viz.api.requests import Parse, QuestionError, UnknownError, parse_query
from viz.course import inputs, real
from viz.course.boards import plain
from viz.course.inputs import Input, InputError, Value
from viz.course.reading import Lesson
from viz.values import TEXT, WORD, reals, whole, words
from viz.values import real as decimal

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
        raise UnknownError("there is no such figure")
    parsers = {each: parser(about) for each, about in lesson.inputs.items()}
    parsers[BOARD] = words(*(step.name for step in lesson.steps if step.board))
    given = parse_query(query, {}, parsers, MAX_INPUT)
    step = given.pop(BOARD, None)
    values = state(lesson, {}) | given

    def compute() -> dict[str, Any]:
        try:
            numbers = answer(lesson, step, values)
        except InputError as error:
            raise QuestionError(str(error)) from None
        return real.with_source(numbers) | (
            {BOARD: real.with_source(numbers[BOARD])} if step else {}
        )

    return compute


def answer(lesson: Lesson, step: str | None, values: Mapping[str, Any]) -> dict[str, Any]:
    """The inputs and the numbers of a lesson's figure, and of the board of a step."""
    module = importlib.import_module(f"viz.course.{lesson.name}.numbers")
    board = {} if step is None else {BOARD: _traced(_called(module.BOARDS[step], values))}
    return plain({**values, **_called(module.numbers, values), **board})


def _called(function: Callable[..., dict[str, Any]], values: Mapping[str, Any]) -> dict[str, Any]:
    """What a function of some of the inputs returns."""
    return function(**{name: values[name] for name in inspect.signature(function).parameters})


def _traced(board: dict[str, Any]) -> dict[str, Any]:
    """A board, with the id of the trace that it shows if it is a network."""
    if "network" not in board:
        return board
    network = board["network"]
    return board | {"network": network | {"trace": tracing.entry_for(network["trace"]).id}}


def parser(about: Input) -> Parse:
    """The parser of an input."""
    match about.kind:
        case "count":
            return whole(int(about.low), int(about.high))
        case "number":
            return decimal(about.low, about.high)
        case "numbers":
            return reals(len(inputs.written(about.start).split(";")), about.most)
        case "choice":
            return words(*about.choices)
        case "word":
            return WORD
        case "sentence":
            return TEXT


def state(lesson: Lesson, given: Mapping[str, Value]) -> dict[str, Any]:
    """All inputs, as their parsers give them: some as given, the others as at the start."""
    return {
        name: parser(about)(inputs.written(given.get(name, about.start)))
        for name, about in lesson.inputs.items()
    }
