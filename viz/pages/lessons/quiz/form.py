"""What a question of the quiz is."""

from dataclasses import dataclass
from random import Random

ROUNDING = 0.006  # of an answer with two decimals


@dataclass(frozen=True)
class Question:
    """One question.

    Attributes:
        title: what it is about.
        ask: the question, in the marks of `prose`.
        picture: the numbers it is about, as HTML.
        answer: the right number.
        why: how it comes about, said once it was answered or asked for.
        slips: wrong numbers that are easily taken for right, each with its hint.
        options: what there is to choose from, where the answer is the place of the right one.
    """

    title: str
    ask: str
    picture: str
    answer: float
    why: str
    slips: tuple[tuple[float, str], ...] = ()
    options: tuple[str, ...] = ()


def near(said: float, right: float) -> bool:
    """Whether a typed number is the right one, to two decimals or one per cent."""
    return abs(said - right) <= max(ROUNDING, 0.01 * abs(right) if abs(right) < 100 else 0.5)


def keys(count: int) -> list[str]:
    """Names for so many keys."""
    return [f"key {place}" for place in range(1, count + 1)]


def whole(dice: Random, count: int, low: int, high: int) -> list[float]:
    """Whole numbers from low to high, drawn at random."""
    return [float(dice.randint(low, high)) for _ in range(count)]
