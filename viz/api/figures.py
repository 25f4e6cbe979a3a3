"""The numbers of the course's figures, computed by `viz.course` for a reader's inputs."""

import importlib
import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any

from viz import course
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
            try:
                return _told(answer(lesson, step, values))
            except real.NotStoredError:
                return _nearest(lesson, step, values)
        except InputError as error:
            raise QuestionError(str(error)) from None

    return compute


def answer(lesson: Lesson, step: str | None, values: Mapping[str, Any]) -> dict[str, Any]:
    """The inputs and the numbers of a lesson's figure, and of the board of a step."""
    module = importlib.import_module(f"viz.course.{lesson.name}.numbers")
    board = {} if step is None else {BOARD: _called(module.BOARDS[step], values)}
    return plain({**values, **_called(module.numbers, values), **board})


def _told(found: dict[str, Any], *, nearest: bool = False) -> dict[str, Any]:
    board = {BOARD: real.told(found[BOARD], nearest)} if BOARD in found else {}
    return real.told(found, nearest) | board


def _called(function: Callable[..., dict[str, Any]], values: Mapping[str, Any]) -> dict[str, Any]:
    """What a function of some of the inputs returns."""
    return function(**{name: values[name] for name in inspect.signature(function).parameters})


def _nearest(lesson: Lesson, step: str | None, values: dict[str, Any]) -> dict[str, Any]:
    """The answer of the nearest stored state; its inputs that differ are in `nearest`."""
    known = min(_stored_states(lesson, step), key=lambda each: _distance(lesson, values, each))
    for name in [name for name, value in values.items() if known[name] != value]:
        with suppress(InputError):
            answer(lesson, step, trial := known | {name: values[name]})
            known = trial
    found = answer(lesson, step, known)
    differences = {name: value for name, value in known.items() if value != values[name]}
    return {**_told(found, nearest=True), "nearest": differences}


def _stored_states(lesson: Lesson, board: str | None) -> Iterator[dict[str, Any]]:
    """States of the steps that show the same board, or the figure, as `viz.store` stores them."""
    for step in lesson.steps:
        if (step.name if step.board else None) == board:
            yield from (state(lesson, each) for each in step.states())


def _distance(lesson: Lesson, a: Mapping[str, Any], b: Mapping[str, Any]) -> tuple[float, ...]:
    """How far apart two states are: first in choices, then in other inputs, then in counts."""
    differing = [name for name in a if a[name] != b[name]]
    abouts = [lesson.inputs[name] for name in differing]
    counts = [n for n, each in zip(differing, abouts, strict=True) if each.kind == "count"]
    choices = sum(each.kind == "choice" for each in abouts)
    return choices, len(differing) - choices, sum(abs(a[name] - b[name]) for name in counts)


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
