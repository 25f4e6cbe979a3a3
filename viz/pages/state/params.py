"""A page's settings as a link: which parameters there are, what they may say, and back again.

Only what differs from the default is in the link. A parameter that makes no sense is named in one
line and replaced by its default; a parameter that nobody knows is named and dropped.
"""

import hashlib
import re
from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

MAX_TEXT = 2000  # characters; a longer text stands in the link by its SHA-256
HASH = "_sha256"


@dataclass(frozen=True)
class Param:
    """One setting.

    Attributes:
        name: in the link.
        default: its value when the link does not say.
        parse: from the link's text to a value; raises ValueError.
        expected: what `parse` takes, in words.
    """

    name: str
    default: Any
    parse: Callable[[str], Any]
    expected: str


def choice(name: str, default: str, options: Iterable[str]) -> Param:
    """One of a few words."""
    allowed = tuple(options)

    def parse(text: str) -> str:
        if text not in allowed:
            raise ValueError
        return text

    return Param(name, default, parse, "one of " + ", ".join(allowed))


def number(name: str, default: int | None, low: int, high: int, step: int = 1) -> Param:
    """A whole number from low to high, in steps."""

    def parse(text: str) -> int:
        if len(text) > 9 or not text.isascii() or not text.isdigit():
            raise ValueError
        value = int(text)
        if not low <= value <= high or (value - low) % step:
            raise ValueError
        return value

    steps = "" if step == 1 else f" in steps of {step}"
    return Param(name, default, parse, f"a whole number from {low} to {high}{steps}")


def decimal(name: str, default: float, low: float, high: float) -> Param:
    """A number from low to high, with a decimal point if need be."""

    def parse(text: str) -> float:
        if not re.fullmatch(r"-?\d{1,9}(\.\d{1,20})?(e-\d{1,2})?", text, re.ASCII):
            raise ValueError
        value = float(text)
        if not low <= value <= high:
            raise ValueError
        return value

    return Param(name, default, parse, f"a number from {low:g} to {high:g}")


def one_of(name: str, default: int, options: Iterable[int]) -> Param:
    """One of a few whole numbers."""
    allowed = {str(option): option for option in options}

    def parse(text: str) -> int:
        if text not in allowed:
            raise ValueError
        return allowed[text]

    return Param(name, default, parse, "one of " + ", ".join(allowed))


def sha256(name: str) -> Param:
    """What stands for something too large for a link; empty when there is nothing."""

    def parse(text: str) -> str:
        if not re.fullmatch("[0-9a-f]{64}", text):
            raise ValueError
        return text

    return Param(name, "", parse, "a SHA-256 in hexadecimal digits")


def number_or(name: str, default: int | str, high: int, words: Iterable[str]) -> Param:
    """A whole number from 0 to high, or one of a few words."""
    allowed = tuple(words)
    whole = number(name, 0, 0, high)

    def parse(text: str) -> int | str:
        return text if text in allowed else whole.parse(text)

    return Param(name, default, parse, f"{whole.expected}, or {' or '.join(allowed)}")


def numbers(name: str, high: int) -> Param:
    """Whole numbers from 0 to high, joined by dots; empty for none."""
    whole = number(name, 0, 0, high)

    def parse(text: str) -> str:
        for part in text.split(".") if text else ():
            whole.parse(part)
        return text

    return Param(name, "", parse, f"whole numbers from 0 to {high}, joined by dots")


def text(name: str, default: str) -> Param:
    """Free text."""
    return Param(name, default, str, "text")


def retired(name: str) -> Param:
    """A setting that older links carry and that no longer exists."""
    return Param(name, None, lambda text: None, "text")


def read(
    params: Iterable[Param], query: Mapping[str, str], others: Container[str] = ()
) -> tuple[dict[str, Any], list[str]]:
    """The settings a link stands for, and one line for each thing in it that makes no sense.

    Args:
        params: the settings of the page.
        query: of the link.
        others: names that are dropped without a line.
    """
    by_name = {param.name: param for param in params}
    values = {name: param.default for name, param in by_name.items()}
    wanted = {text + HASH for text in by_name}
    problems = []
    for name, raw in query.items():
        if name in by_name:
            try:
                values[name] = by_name[name].parse(raw)
            except ValueError:
                param = by_name[name]
                problems.append(
                    f"The link says {name} = {_short(raw)}; expected {param.expected}."
                    f" Using {_worded(param.default)} instead."
                )
        elif name not in wanted and name not in others:
            problems.append(f"The link has a setting called {_short(name)}, which does not exist.")
    return values, problems


def value(param: Param, query: Mapping[str, str]) -> Any:
    """What a link says for one setting alone; the default where that makes no sense."""
    return read((param,), query)[0][param.name]


def wanted(params: Iterable[Param], query: Mapping[str, str]) -> dict[str, str]:
    """The long texts a link stands for: name and SHA-256."""
    names = [param.name for param in params if param.name + HASH in query]
    return {name: query[name + HASH] for name in names}


def write(params: Iterable[Param], values: Mapping[str, Any]) -> dict[str, str]:
    """The link for these settings: what differs from the default."""
    query = {}
    for param in params:
        value = values[param.name]
        if value == param.default or value is None:
            continue
        if isinstance(value, str) and len(value) > MAX_TEXT:
            query[param.name + HASH] = digest_of(value)
        else:
            query[param.name] = str(value)
    return query


def digest_of(data: bytes | str) -> str:
    """SHA-256 of a file or text, in hexadecimal digits."""
    encoded = data.encode("utf-8", "replace") if isinstance(data, str) else data
    return hashlib.sha256(encoded).hexdigest()


def _short(raw: str) -> str:
    shown = raw if len(raw) <= 30 else raw[:29] + "…"
    return f"“{shown}”"


def _worded(value: object) -> str:
    return "none" if value is None or value == "" else str(value)
