"""What a reader may change about a figure: its value at the start, and the values it can have.

`viz.api.figures` makes the parser of each.
"""

from collections.abc import Sequence
from dataclasses import dataclass

Value = float | str | Sequence[float]


class InputError(ValueError):
    """An input that a lesson cannot compute with; the message says what it expected."""


@dataclass(frozen=True)
class Count:
    """A whole number from `low` to `high`."""

    start: int
    low: int
    high: int


@dataclass(frozen=True)
class Within:
    """A number from `low` to `high`."""

    start: float
    low: float
    high: float


@dataclass(frozen=True)
class Reals:
    """As many numbers as at the start, each from −`most` to `most`."""

    start: Sequence[float]
    most: float = 1e4


@dataclass(frozen=True)
class OneOf:
    """One of a few words."""

    start: str
    choices: Sequence[str]


@dataclass(frozen=True)
class Word:
    """A short text, not empty."""

    start: str


@dataclass(frozen=True)
class Sentence:
    """A text."""

    start: str


Input = Count | Within | Reals | OneOf | Word | Sentence
KINDS: dict[str, type[Input]] = {  # by their names in a lesson's text
    "count": Count,
    "number": Within,
    "numbers": Reals,
    "choice": OneOf,
    "word": Word,
    "sentence": Sentence,
}
