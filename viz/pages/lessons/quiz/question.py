"""A question of the quiz: drawn at random, judged with feedback for every common mistake."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import combinations, count
from math import isfinite, nan
from random import Random

ROUNDING = 0.006  # of an answer with two decimals
WHOLE = 0.5  # a rounded large number may be off by so much


@dataclass(frozen=True)
class Question:
    """One question.

    Attributes:
        title: topic.
        ask: the question, in `markup`.
        picture: the given numbers, as HTML.
        answer: the right number.
        why: explanation, shown after a right answer or on request.
        slips: results of common mistakes, each with a hint.
        options: for multiple choice: the options; the answer is the index of the right one, and
            every other index is a slip.
    """

    title: str
    ask: str
    picture: str
    answer: float
    why: str
    slips: tuple[tuple[float, str], ...] = ()
    options: tuple[str, ...] = ()


Maker = Callable[[Random], Question]


def drawn(make: Maker, seed: int) -> Question:
    """The question with the first numbers of a seed that keep all mistakes apart."""
    name = f"{seed} {make.__name__}"
    tries = (make(Random(f"{name} {n}" if n else name)) for n in count())
    return next(question for question in tries if told_apart(question))


def told_apart(question: Question) -> bool:
    """Whether no common mistake gives the right answer, or that of another mistake."""
    slips = [slip for slip, _ in question.slips]
    wrong = all(abs(slip - question.answer) > 2 * tolerance(question.answer) for slip in slips)
    return wrong and all(abs(a - b) > 2 * ROUNDING for a, b in combinations(slips, 2))


def choices(
    dice: Random, right: str, wrong: Mapping[str, str]
) -> tuple[float, tuple[tuple[float, str], ...], tuple[str, ...]]:
    """Answer, slips and options of a multiple choice, in random order.

    Args:
        dice: random numbers.
        right: the right option.
        wrong: every other option, with its hint.
    """
    options = [right, *wrong]
    dice.shuffle(options)
    slips = tuple((float(options.index(option)), hint) for option, hint in wrong.items())
    return float(options.index(right)), slips, tuple(options)


def judged(question: Question, answer: str) -> tuple[str, bool]:
    """The verdict on an answer, and whether it is right; no verdict on an empty answer."""
    if not answer.strip():
        return "", False
    number = parsed(answer)
    if not isfinite(number):
        return "Not a number: type 0.375, 3/8 or 37.5 %.", False
    if near(number, question.answer):
        return f"**Right.** {question.why}", True
    hints = [(abs(number - slip), hint) for slip, hint in question.slips if near(number, slip)]
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
    number, unit = text.removesuffix("%"), 100 if text.endswith("%") else 1
    above, slash, below = number.partition("/")
    try:
        return _decimal(above) / (_decimal(below) if slash else 1.0) / unit
    except (ValueError, ZeroDivisionError):
        return nan


def _decimal(text: str) -> float:
    """A number with a decimal point or comma, or with thousands separators."""
    thousands = re.fullmatch(r"-?[1-9]\d{0,2}(,\d{3})+(\.\d*)?", text.strip())
    return float(text.replace(",", "" if thousands else "."))
