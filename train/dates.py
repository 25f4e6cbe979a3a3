"""The date task: dates in human formats to ISO 8601 (year-month-day).

Two-digit years mean 1950 to 2049. 3.4.1998, 4/3/1998 and 98-4-3 are all the third of April: the
separator determines the order.
"""

from calendar import monthrange
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from random import Random

from train.task import IGNORED, Batch
from train.vocabulary import BEGIN, END, Vocabulary, filled

FIRST_YEAR, LAST_YEAR = 1950, 2049
MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July", "August", "September"),
    *("October", "November", "December"),
)
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
ONES = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")
TEENS = (
    *("tenth", "eleventh", "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth"),
    *("seventeenth", "eighteenth", "nineteenth"),
)
DAYS = (
    *ONES,
    *TEENS,
    "twentieth",
    *(f"twenty-{one}" for one in ONES),
    "thirtieth",
    "thirty-first",
)
Part = tuple[str, str]  # its meaning ("year", "month", "day" or ""), its text
SOURCE = Vocabulary(
    (*"abcdefghijklmnopqrstuvwxyz", *"0123456789", *" ,.-/'"), "characters and spaces"
)
TARGET = Vocabulary((*"0123456789", "-"), "characters")


def _two(number: int) -> str:
    return f"{number:02d}"


def _nth(day: int) -> str:
    ending = "th" if day in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")
    return f"{day}{ending}"


def _year(d: date) -> Part:
    return ("year", str(d.year))


def _short(d: date) -> Part:
    return ("year", _two(d.year % 100))


def _month(d: date) -> Part:
    return ("month", MONTHS[d.month - 1])


def _mon(d: date) -> Part:
    return ("month", MONTHS[d.month - 1][:3])


def _month_number(d: date) -> Part:
    return ("month", str(d.month))


def _day(d: date) -> Part:
    return ("day", str(d.day))


def _ordinal(d: date) -> Part:
    return ("day", _nth(d.day))


def _spelled(d: date) -> Part:
    return ("day", DAYS[d.day - 1])


def _two_day(d: date) -> Part:
    return ("day", _two(d.day))


def _two_month(d: date) -> Part:
    return ("month", _two(d.month))


def _weekday(d: date) -> Part:
    return ("", WEEKDAYS[d.weekday()])


Form = tuple[str | Callable[[date], Part], ...]
FORMS: tuple[Form, ...] = (
    (_ordinal, " of ", _month, " ", _year),
    (_ordinal, " ", _month, " ", _year),
    (_day, " ", _month, " ", _year),
    (_month, " ", _day, ", ", _year),
    (_month, " ", _ordinal, ", ", _year),
    (_month, " the ", _spelled, ", '", _short),
    (_month, " the ", _spelled, ", ", _year),
    ("the ", _spelled, " of ", _month, " ", _year),
    ("the ", _spelled, " of ", _month, ", '", _short),
    ("the ", _ordinal, " of ", _mon, " ", _year),
    (_day, " ", _mon, " ", _year),
    (_day, " ", _mon, " '", _short),
    (_mon, " ", _day, ", ", _year),
    (_mon, ". ", _day, ", '", _short),
    (_day, "-", _mon, "-", _year),
    (_day, "-", _mon, "-", _short),
    (_day, ".", _month_number, ".", _year),
    (_two_day, ".", _two_month, ".", _short),
    (_day, ". ", _month_number, ". ", _year),
    (_month_number, "/", _day, "/", _year),
    (_two_month, "/", _two_day, "/", _short),
    (_short, "-", _month_number, "-", _day),
    (_year, "-", _month_number, "-", _day),
    (_year, "/", _two_month, "/", _two_day),
    (_year, " ", _month, " ", _day),
    (_year, ", ", _mon, " ", _ordinal),
    (_weekday, ", ", _day, " ", _month, " ", _year),
    (_weekday, ", ", _month, " ", _ordinal, ", ", _year),
    (_weekday, " the ", _ordinal, " of ", _month, ", ", _year),
    ("in ", _year, ", on ", _month, " ", _day),
)


@dataclass(frozen=True)
class Written:
    """A date in one of the input formats.

    Attributes:
        day: the date.
        form: which of `FORMS`.
    """

    day: date
    form: int

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        """The parts of its text, in order."""
        form = FORMS[self.form]
        return tuple(("", part) if isinstance(part, str) else part(self.day) for part in form)

    @property
    def text(self) -> str:
        return "".join(text for _, text in self.parts)

    def span(self, what: str) -> range:
        """Character positions of its "year", "month" or "day"."""
        place = 0
        for meaning, text in self.parts:
            if meaning == what:
                return range(place, place + len(text))
            place += len(text)
        raise ValueError(f"what: expected year, month or day, received {what!r}")


@dataclass(frozen=True)
class Dates:
    """The date task, character by character; all formats of a date are in the same split."""

    @property
    def vocabulary(self) -> Vocabulary:
        return SOURCE

    @property
    def target_vocabulary(self) -> Vocabulary:
        return TARGET

    def draw(self, dice: Random) -> Written:
        year, month = dice.randint(FIRST_YEAR, LAST_YEAR), dice.randint(1, 12)
        day = date(year, month, dice.randint(1, monthrange(year, month)[1]))
        return Written(day, dice.randrange(len(FORMS)))

    def key(self, item: Written) -> str:
        return item.day.isoformat()

    def batch(self, items: Sequence[Written]) -> Batch:
        source = filled([SOURCE.ids(item.text.lower()) for item in items])
        answers = [TARGET.ids(item.day.isoformat()) for item in items]
        target = filled([[BEGIN, *answer] for answer in answers])
        wanted = filled([[*answer, END] for answer in answers], IGNORED)
        return Batch({"source": source, "target": target}, wanted)
