"""The numbers of the course's figures, computed by `viz.course` for a reader's inputs."""

import importlib
import inspect
from collections.abc import Callable, Mapping
from typing import Any

from viz import course
from viz.api import tracing
from viz.api.endpoint import QuestionError, UnknownError, parse_query
from viz.course import inputs
from viz.course import real as stored
from viz.course.boards import plain
from viz.course.inputs import Input, InputError, Value
from viz.course.reading import Lesson
from viz.values import TEXT, WORD, Kind, real, reals, whole, words

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
    kinds = {each: kind_of(about) for each, about in lesson.inputs.items()}
    kinds[BOARD] = words(*(step.name for step in lesson.steps if step.board))
    given = parse_query(query, kinds, kinds)
    step = given.pop(BOARD, None)
    values = state(lesson, {}) | given

    def compute() -> dict[str, Any]:
        try:
            numbers = answer(lesson, step, values)
        except InputError as error:
            raise QuestionError(str(error)) from None
        return stored.with_source(numbers) | (
            {BOARD: stored.with_source(numbers[BOARD])} if step else {}
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


def kind_of(about: Input) -> Kind:
    """What the values of an input are."""
    match about.kind:
        case "count":
            return whole(int(about.low), int(about.high))
        case "number":
            return real(about.low, about.high)
        case "numbers":
            return reals(len(inputs.written(about.start).split(";")), about.most)
        case "choice":
            return words(*about.choices)
        case "word":
            return WORD
        case "sentence":
            return TEXT


def state(lesson: Lesson, given: Mapping[str, Value]) -> dict[str, Any]:
    """All inputs: some as given, the others as at the start."""
    return {
        name: kind_of(about)(inputs.written(given.get(name, about.start)))
        for name, about in lesson.inputs.items()
    }
