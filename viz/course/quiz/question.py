"""The questions of the quiz: texts of `questions.md` with numbers drawn by a seed, and judging.

A heading is a part; its settings are in a block of TOML. A heading below it is a question: its
name and its title. A block of code draws its numbers, a line each: `choice` of some values, or
`whole` numbers, and what follows from them, with the functions of `numbers.py`; a line without a
name returns several. `given` is what is shown, `answer` the result of a sum. What is asked is the
first paragraph, the explanation the second. Then come the options of a multiple choice, as tasks
with a hint for each wrong one; or the results of common mistakes. Numbers, in braces too, are
expressions of what is drawn, which are evaluated: the file is the app's own.
"""

import math
import re
import statistics
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations, count
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from viz.course.boards import Board, board
from viz.course.prose import Node, blocks, number, sections, text_of

FILE = Path(__file__).with_name("questions.md")
ROUNDING = 0.006  # of an answer with two decimals
WHOLE = 0.5  # a rounded large number may be off by so much
_NUMBER = re.compile(r"\{([^{}:]+):([^{}]*)\}")


@dataclass(frozen=True)
class Question:
    """One question.

    Attributes:
        title: topic.
        ask: the question, in the markup of `prose`.
        given: the given numbers, a board.
        answer: the right number.
        why: explanation, shown after a right answer or on request.
        slips: results of common mistakes, each with a hint.
        options: for multiple choice: the options; the answer is the index of the right one, and
            every other index is a slip.
    """

    title: str
    ask: str
    given: Board
    answer: float
    why: str
    slips: tuple[tuple[float, str], ...] = ()
    options: tuple[str, ...] = ()


class Written(NamedTuple):
    """A question without its numbers: `lines` draw them; `items` are blocks of its list's items."""

    name: str
    title: str
    lines: list[str]
    ask: str
    why: str
    items: list[list[str]]


class Part(NamedTuple):
    """Questions of one kind; `columns` of them stand side by side."""

    title: str
    questions: list[Written]
    columns: int


@cache
def parts() -> list[Part]:
    """The parts of the quiz, in order."""
    return [_part(*each) for each in sections(blocks(FILE.read_text("utf-8")), "h1")[1:]]


def _part(title: str, nodes: list[Node]) -> Part:
    (_, opening), *asked = sections(nodes, "h2")
    settings = "".join(node.content for node in opening)
    written = [_written(heading, blocks) for heading, blocks in asked]
    return Part(title, written, **{"columns": 2} | tomllib.loads(settings))


def _written(heading: str, nodes: list[Node]) -> Written:
    name, _, title = heading.partition(": ")
    lines, ask, why, items = nodes
    texts = [[*map(text_of, item.children)] for item in items.children]
    return Written(name, title, lines.content.splitlines(), text_of(ask), text_of(why), texts)


def questions(seed: int) -> list[Question]:
    """All questions with the numbers of a seed."""
    return [drawn(each, seed) for part in parts() for each in part.questions]


def drawn(written: Written, seed: int) -> Question:
    """The question with the first numbers of a seed that keep all mistakes apart."""
    name = f"{seed} _{written.name}"
    dice = (Random(f"{name} {n}" if n else name) for n in count())
    tries = (_filled(written, values_of(written.lines, each), each) for each in dice)
    return next(question for question in tries if told_apart(question))


def values_of(lines: Sequence[str], dice: Random) -> dict[str, Any]:
    """What lines of a question draw and compute, with all that their expressions know."""
    from viz.course.quiz import numbers

    def whole(count: int, low: int, high: int, distinct: int = 1) -> list[float]:
        drawn: list[float] = []
        while len({*drawn}) < distinct:
            drawn = [float(dice.randint(low, high)) for _ in range(count)]
        return drawn

    known = {**vars(math), **vars(statistics), **vars(numbers)}
    values = {**known, "choice": lambda *values: dice.choice(values), "whole": whole}
    for line in lines:
        name, equals, written = line.partition(" = ")
        values |= {name: eval(written, values)} if equals else eval(line, values)
    return values


def _filled(written: Written, values: Mapping[str, Any], dice: Random) -> Question:
    """A question with its numbers; those of "wrong" are of several options of one text."""
    slips: list[tuple[Any, str]] = []
    for first, *hint in written.items:
        if not first.startswith("["):
            name, _, text = first.partition(": ")
            slips.append((_value(name, values), _with(text, values)))
        elif first.startswith("[ ]"):
            repeated = values.get("wrong", [{}]) if "{name:s}" in first else [{}]
            for each in repeated:
                both = {**values, **each}
                slips.append((_with(first[4:], both), _with(hint[0], both)))
    asked = (written.title, _with(written.ask, values), board(values["given"]))
    why = _with(written.why, values)
    if not written.items[0][0].startswith("["):
        return Question(*asked, values["answer"], why, tuple(slips))
    right = _with(written.items[0][0][4:], values)
    options = [right, *(option for option, _ in slips)]
    dice.shuffle(options)
    numbered = tuple((float(options.index(option)), hint) for option, hint in slips)
    return Question(*asked, float(options.index(right)), why, numbered, tuple(options))


def _value(written: str, values: Mapping[str, Any]) -> Any:
    """What an expression of the file's comes to with the drawn values."""
    return eval(written, dict(values))


def _with(text: str, values: Mapping[str, Any]) -> str:
    """A text with its numbers, those of a list in a row, with typographic minus signs."""

    def replacement(mark: re.Match[str]) -> str:
        value = _value(mark[1], values)
        each = value if isinstance(value, list) else [value]
        return ", ".join(number(one, mark[2]) for one in each)

    return _NUMBER.sub(replacement, text)


def told_apart(question: Question) -> bool:
    """Whether no common mistake gives the right answer, or that of another mistake."""
    slips = [slip for slip, _ in question.slips]
    wrong = all(abs(slip - question.answer) > 2 * tolerance(question.answer) for slip in slips)
    return wrong and all(abs(a - b) > 2 * ROUNDING for a, b in combinations(slips, 2))


def judged(question: Question, answer: str) -> tuple[str, bool]:
    """The verdict on an answer, and whether it is right; no verdict on an empty answer."""
    if not answer.strip():
        return "", False
    typed = parsed(answer)
    if not math.isfinite(typed):
        return "Not a number: type 0.375, 3/8 or 37.5 %.", False
    if near(typed, question.answer):
        return f"**Right.** {question.why}", True
    hints = [(abs(typed - slip), hint) for slip, hint in question.slips if near(typed, slip)]
    return f"**Not yet.** {min(hints)[1] if hints else 'Check the numbers again.'}", False


def tolerance(right: float) -> float:
    """By how much an answer may be off: two decimals or one per cent."""
    return max(ROUNDING, min(0.01 * abs(right), WHOLE))


def near(typed: float, right: float) -> bool:
    """Whether a typed number is right."""
    return abs(typed - right) <= tolerance(right)


def parsed(answer: str) -> float:
    """A decimal, a fraction or a percentage as a number; NaN if it is none of these."""
    text = answer.strip().replace("−", "-")
    amount, unit = text.removesuffix("%"), 100 if text.endswith("%") else 1
    above, slash, below = amount.partition("/")
    try:
        return _decimal(above) / (_decimal(below) if slash else 1.0) / unit
    except (ValueError, ZeroDivisionError):
        return math.nan


def _decimal(text: str) -> float:
    """A number with a decimal point or comma, or with thousands separators."""
    thousands = re.fullmatch(r"-?[1-9]\d{0,2}(,\d{3})+(\.\d*)?", text.strip())
    return float(text.replace(",", "" if thousands else "."))
