"""The date task: dates in human formats to ISO 8601 (year-month-day).

Two-digit years mean 1950 to 2049. 3.4.1998, 4/3/1998 and 98-4-3 are all the third of April: the
separator determines the order.
"""

import tomllib
from calendar import monthrange
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from random import Random
from string import Formatter, ascii_lowercase, digits

from train.task import Batch
from train.vocabulary import BEGIN, END, IGNORED, Vocabulary, filled

TABLES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
DAYS: list[str] = TABLES["days"]
FORMS: list[str] = TABLES["forms"]
SOURCE = Vocabulary(f"{ascii_lowercase}{digits} ,.-/'", "characters and spaces")
TARGET = Vocabulary(f"{digits}-", "characters")


def _nth(day: int) -> str:
    ending = "th" if day in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")
    return f"{day}{ending}"


PARTS: dict[str, tuple[str, Callable[[date], str]]] = {  # of a format: meaning, text
    "1998": ("year", lambda d: f"{d:%Y}"),
    "98": ("year", lambda d: f"{d:%y}"),
    "March": ("month", lambda d: f"{d:%B}"),
    "Mar": ("month", lambda d: f"{d:%b}"),
    "3": ("month", lambda d: str(d.month)),
    "03": ("month", lambda d: f"{d:%m}"),
    "8": ("day", lambda d: str(d.day)),
    "08": ("day", lambda d: f"{d:%d}"),
    "8th": ("day", lambda d: _nth(d.day)),
    "eighth": ("day", lambda d: DAYS[d.day - 1]),
    "Sunday": ("weekday", lambda d: f"{d:%A}"),
}


@dataclass(frozen=True)
class Written:
    """A date in one of the input formats.

    Attributes:
        day: the date.
        form: which of `FORMS`.
    """

    day: date
    form: int

    @property
    def text(self) -> str:
        return "".join(text for _, text in self.parts())

    def parts(self) -> list[tuple[str, str]]:
        """Meaning and text of its parts in order; what stands between them has no meaning."""
        parts = []
        for between, name, *_ in Formatter().parse(FORMS[self.form]):
            parts.append(("", between))
            if name is not None:
                meaning, write = PARTS[name]
                parts.append((meaning, write(self.day)))
        return parts


@dataclass(frozen=True)
class Dates:
    """The date task, character by character; all formats of a date are in the same split."""

    vocabulary = SOURCE
    target_vocabulary = TARGET

    def draw(self, dice: Random) -> Written:
        year, month = dice.randint(1950, 2049), dice.randint(1, 12)
        day = date(year, month, dice.randint(1, monthrange(year, month)[1]))
        return Written(day, dice.randrange(len(FORMS)))

    def key(self, item: Written) -> str:
        return item.day.isoformat()

    def batch(self, items: Sequence[Written]) -> Batch:
        source = filled([SOURCE.ids(item.text) for item in items])
        answers = [TARGET.ids(item.day.isoformat()) for item in items]
        target = filled([[BEGIN, *answer] for answer in answers])
        wanted = filled([[*answer, END] for answer in answers], IGNORED)
        return Batch({"source": source, "target": target}, wanted)
