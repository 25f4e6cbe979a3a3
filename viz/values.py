"""Kinds of values that an option takes: from the text of a link, a request or a shell, and back."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

Head = int | Literal["mean", "max"]


@dataclass(frozen=True)
class Kind:
    """What the values of an option are. Called with a text; ValueError says what was expected.

    Attributes:
        expected: the valid texts in words.
        read: the value of a text; raises ValueError.
        held: the value as the browser and its link hold it.
        typescript: the type of a held value.
        longest: characters of a text in a request.
        words: all valid texts, where these are a few words.
        high: the largest value of a number.
    """

    expected: str
    read: Callable[[str], Any]
    held: Callable[[Any], Any] = lambda value: value
    typescript: str = "string"
    longest: int = 64
    words: tuple[str, ...] = ()
    high: float | None = None

    def __call__(self, text: str) -> Any:
        try:
            return self.read(text)
        except ValueError:
            raise ValueError(f"expected {self.expected}") from None


def words(*known: str) -> Kind:
    """One of several words."""
    union = " | ".join(f'"{word}"' for word in known)
    expected = "one of " + ", ".join(known)
    return Kind(expected, lambda text: known[known.index(text)], typescript=union, words=known)


def whole(low: int, high: int, step: int = 1) -> Kind:
    """A whole number from low to high, in steps."""

    def read(text: str) -> int:
        number = _within(low, int(_matching("[0-9]{1,9}", text)), high)
        if (number - low) % step:
            raise ValueError
        return number

    expected = f"a whole number from {low} to {high}" + (f" in steps of {step}" if step > 1 else "")
    return Kind(expected, read, typescript="number", high=high)


def real(low: float, high: float) -> Kind:
    """A number from low to high."""

    def read(text: str) -> float:
        number = _matching(r"-?[0-9]{1,9}(\.[0-9]{1,20})?(e-[0-9]{1,2})?", text)
        return _within(low, float(number), high)

    return Kind(f"a number from {low:g} to {high:g}", read, typescript="number", high=high)


def reals(size: int, most: float) -> Kind:
    """Numbers from −most to most joined by semicolons, as many as `size`."""
    each = real(-most, most)

    def read(text: str) -> list[float]:
        parts = text.split(";")
        if len(parts) != size:
            raise ValueError
        return [each.read(part) for part in parts]

    expected = f"{size} numbers joined by semicolons, each {each.expected[9:]}"
    return Kind(expected, read, longest=700)


def wholes(high: int) -> Kind:
    """Whole numbers from 0 to high joined by dots, each once; none for the empty text."""
    each = whole(0, high)

    def read(text: str) -> tuple[int, ...]:
        numbers = tuple(map(each.read, text.split("."))) if text else ()
        if len({*numbers}) < len(numbers):
            raise ValueError
        return numbers

    expected = f"whole numbers from 0 to {high}, joined by dots, each once"
    return Kind(expected, read, lambda value: ".".join(map(str, value)), longest=400)


def _within(low: float, value: Any, high: float) -> Any:
    if not low <= value <= high:
        raise ValueError
    return value


def _matching(pattern: str, text: str) -> str:
    if not re.fullmatch(pattern, text, re.ASCII):
        raise ValueError
    return text


def _positions(text: str) -> range | None:
    if not text:
        return None
    start, stop = map(int, _matching("[0-9]{1,9}-[0-9]{1,9}", text).split("-"))
    _within(start + 1, stop, stop)
    return range(start, stop)


def _keys(text: str) -> tuple[str, ...]:
    names = tuple(text.split(".")) if text else ()
    if len(names) > 3 or not all(re.fullmatch(r"[\w ·→-]{0,40}", name) for name in names):
        raise ValueError
    return names


def _area(text: str) -> str:
    """A picture and an area of it: left, top, right and bottom in thousandths of its sides."""
    if text:
        _, *sides = map(int, _matching(r"[0-9]{1,3}(\.[0-9]{1,4}){4}", text).split("."))
        left, top, right, bottom = sides
        _within(left + 1, right, 1000)
        _within(top + 1, bottom, 1000)
    return text


YES_OR_NO = {"no": False, "yes": True}
FLAG = Kind(
    "yes or no",
    lambda text: YES_OR_NO[words(*YES_OR_NO).read(text)],
    lambda value: "yes" if value else "no",
    '"no" | "yes"',
)
SPAN = Kind(  # stop excluded; all for the empty text
    "positions such as 0-512",
    _positions,
    lambda value: f"{value.start}-{value.stop}" if value else "",
)
SHA256 = Kind("a SHA-256 in hexadecimal digits", lambda text: _matching("[0-9a-f]{64}", text))
KEYS = Kind(  # an empty name leaves its place open
    "up to three names of numbers of heads, joined by dots", _keys, ".".join, longest=130
)
AREA = Kind("a picture, left, top, right and bottom in thousandths, such as 0.100.0.500.300", _area)
TEXT = Kind(  # of the user; control characters are dropped
    "text", lambda text: "".join(c for c in text if c.isprintable()), longest=500
)


def line(longest: int) -> Kind:
    """A text of one character or more."""

    def read(text: str) -> str:
        words = TEXT.read(text).strip()
        _within(1, len(words), longest)
        return words

    return Kind(f"1 to {longest} characters", read, longest=longest)


WORD = line(40)
NUMBER = whole(0, 999_999_999)
HEAD = Kind(  # or a combination of all heads
    "the number of a head, mean or max",
    lambda text: text if text in ("mean", "max") else int(_matching("[0-9]{1,9}", text)),
)
