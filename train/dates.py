"""The date task: dates in human formats to ISO 8601 (year-month-day).

Two-digit years mean 1950 to 2049. 3.4.1998, 4/3/1998 and 98-4-3 are all the third of April: the
separator determines the order.
"""

from calendar import monthrange
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from random import Random
from string import Formatter, ascii_lowercase, digits

from train.task import Batch
from train.vocabulary import BEGIN, END, IGNORED, Vocabulary, filled

SPELLED = """
first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth
fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth twenty-first
twenty-second twenty-third twenty-fourth twenty-fifth twenty-sixth twenty-seventh twenty-eighth
twenty-ninth thirtieth thirty-first
"""
DAYS = SPELLED.split()
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
FORMS = """
{8th} of {March} {1998}
{8th} {March} {1998}
{8} {March} {1998}
{March} {8}, {1998}
{March} {8th}, {1998}
{March} the {eighth}, '{98}
{March} the {eighth}, {1998}
the {eighth} of {March} {1998}
the {eighth} of {March}, '{98}
the {8th} of {Mar} {1998}
{8} {Mar} {1998}
{8} {Mar} '{98}
{Mar} {8}, {1998}
{Mar}. {8}, '{98}
{8}-{Mar}-{1998}
{8}-{Mar}-{98}
{8}.{3}.{1998}
{08}.{03}.{98}
{8}. {3}. {1998}
{3}/{8}/{1998}
{03}/{08}/{98}
{98}-{3}-{8}
{1998}-{3}-{8}
{1998}/{03}/{08}
{1998} {March} {8}
{1998}, {Mar} {8th}
{Sunday}, {8} {March} {1998}
{Sunday}, {March} {8th}, {1998}
{Sunday} the {8th} of {March}, {1998}
in {1998}, on {March} {8}
""".strip().splitlines()


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
