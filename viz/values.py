"""Kinds of values that an option takes: from the text of a link, a request or a shell, and back.

A kind is called with a text and raises ValueError, which says what was `expected`. `held` gives the
value as the browser and its link hold it, of the type `typescript`. A text in a request has at most
`longest` characters.
"""

import re
from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True)
class Words:
    """One of several words."""

    words: tuple[str, ...]
    longest: ClassVar[int] = 64

    @property
    def expected(self) -> str:
        return "one of " + ", ".join(self.words)

    @property
    def typescript(self) -> str:
        return " | ".join(f'"{word}"' for word in self.words)

    def __call__(self, text: str) -> str:
        if text not in self.words:
            raise ValueError(f"expected {self.expected}")
        return text

    def held(self, value: str) -> str:
        return value


@dataclass(frozen=True)
class Whole:
    """A whole number from low to high."""

    low: int
    high: int
    longest: ClassVar[int] = 64
    typescript: ClassVar[str] = "number"

    @property
    def expected(self) -> str:
        return f"a whole number from {self.low} to {self.high}"

    def __call__(self, text: str) -> int:
        if not re.fullmatch("[0-9]{1,9}", text, re.ASCII) or not self.low <= int(text) <= self.high:
            raise ValueError(f"expected {self.expected}")
        return int(text)

    def held(self, value: int | None) -> int | None:
        return value


@dataclass(frozen=True)
class Share:
    """A number from low to high."""

    low: float
    high: float
    longest: ClassVar[int] = 64
    typescript: ClassVar[str] = "number"

    @property
    def expected(self) -> str:
        return f"a number from {self.low:g} to {self.high:g}"

    def __call__(self, text: str) -> float:
        number = r"[0-9]{1,9}(\.[0-9]{1,20})?(e-[0-9]{1,2})?"
        if not re.fullmatch(number, text, re.ASCII) or not self.low <= float(text) <= self.high:
            raise ValueError(f"expected {self.expected}")
        return float(text)

    def held(self, value: float | None) -> float | None:
        return value


@dataclass(frozen=True)
class Flag:
    """Yes or no."""

    expected: ClassVar[str] = "yes or no"
    longest: ClassVar[int] = 64
    typescript: ClassVar[str] = '"no" | "yes"'

    def __call__(self, text: str) -> bool:
        if text not in ("yes", "no"):
            raise ValueError(f"expected {self.expected}")
        return text == "yes"

    def held(self, value: bool) -> str:
        return "yes" if value else "no"


@dataclass(frozen=True)
class Wholes:
    """Whole numbers from 0 to high joined by dots, each once; none for the empty text."""

    high: int
    longest: ClassVar[int] = 400
    typescript: ClassVar[str] = "string"

    @property
    def expected(self) -> str:
        return f"whole numbers from 0 to {self.high}, joined by dots, each once"

    def __call__(self, text: str) -> tuple[int, ...]:
        parts = text.split(".") if text else []
        if not all(re.fullmatch("[0-9]{1,9}", part, re.ASCII) for part in parts):
            raise ValueError(f"expected {self.expected}")
        numbers = tuple(map(int, parts))
        if len({*numbers}) < len(numbers) or any(number > self.high for number in numbers):
            raise ValueError(f"expected {self.expected}")
        return numbers

    def held(self, value: tuple[int, ...]) -> str:
        return ".".join(map(str, value))


@dataclass(frozen=True)
class Span:
    """Positions `start-stop`, stop excluded; all for the empty text."""

    expected: ClassVar[str] = "positions such as 0-512"
    longest: ClassVar[int] = 64
    typescript: ClassVar[str] = "string"

    def __call__(self, text: str) -> range | None:
        ends = re.fullmatch("([0-9]{1,9})-([0-9]{1,9})", text, re.ASCII)
        if not text:
            return None
        if ends is None or not (positions := range(int(ends[1]), int(ends[2]))):
            raise ValueError(f"expected {self.expected}")
        return positions

    def held(self, value: range | None) -> str:
        return f"{value.start}-{value.stop}" if value else ""


@dataclass(frozen=True)
class Keys:
    """At most three names of numbers of heads, joined by dots; "" in a place leaves it open."""

    expected: ClassVar[str] = "up to three names of numbers of heads, joined by dots"
    longest: ClassVar[int] = 130
    typescript: ClassVar[str] = "string"

    def __call__(self, text: str) -> tuple[str, ...]:
        names = tuple(text.split(".")) if text else ()
        if len(names) > 3 or not all(re.fullmatch(r"[\w ·→-]{0,40}", name) for name in names):
            raise ValueError(f"expected {self.expected}")
        return names

    def held(self, value: tuple[str, ...]) -> str:
        return ".".join(value)


@dataclass(frozen=True)
class Text:
    """A text of the user's; control characters are dropped."""

    expected: ClassVar[str] = "text"
    longest: ClassVar[int] = 500
    typescript: ClassVar[str] = "string"

    def __call__(self, text: str) -> str:
        return "".join(c for c in text if c.isprintable())

    def held(self, value: str) -> str:
        return value


Kind = Words | Whole | Share | Flag | Wholes | Span | Keys | Text
