"""Sequence tasks for an encoder with one output per token."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from string import ascii_lowercase

from train.task import IGNORED, Batch
from train.vocabulary import Vocabulary, filled, padding_of

LETTERS = Vocabulary(tuple(ascii_lowercase), "characters", end=True)
ORDERS: dict[str, Callable[[str], str]] = {
    "reverse": lambda text: text[::-1],
    "copy": lambda text: text,
    "sort": lambda text: "".join(sorted(text)),
}


@dataclass(frozen=True)
class Rearrange:
    """Rearranging letters.

    Attributes:
        order: one of `ORDERS`.
        shortest: minimum number of letters.
        longest: maximum number of letters.
    """

    order: str = "reverse"
    shortest: int = 4
    longest: int = 12

    def __post_init__(self) -> None:
        if self.order not in ORDERS:
            raise ValueError(f"order: expected one of {list(ORDERS)}, received {self.order!r}")

    @property
    def vocabulary(self) -> Vocabulary:
        return LETTERS

    def draw(self, dice: Random) -> str:
        count = dice.randint(self.shortest, self.longest)
        return "".join(dice.choices(ascii_lowercase, k=count))

    def key(self, item: str) -> str:
        return item

    def batch(self, items: Sequence[str]) -> Batch:
        answers = [ORDERS[self.order](item) for item in items]
        return _answered([LETTERS.ids(item) for item in items], [LETTERS.ids(a) for a in answers])


BRACKETS = Vocabulary(("(", ")", "[", "]"), "characters", end=True)
PAIRS = {"(": ")", "[": "]"}
FINE, WRONG = 0, 1


def first_wrong(text: str) -> int | None:
    """Position of the first error: a closing bracket without its opening one, else one left open.

    None if they are balanced.
    """
    opened: list[int] = []
    for place, bracket in enumerate(text):
        if bracket in PAIRS:
            opened.append(place)
        elif opened and PAIRS[text[opened[-1]]] == bracket:
            opened.pop()
        else:
            return place
    return opened[0] if opened else None


@dataclass(frozen=True)
class Brackets:
    """Two kinds of brackets: is each one correct, and is the whole sequence balanced?

    Half of the sequences are balanced; in the others one bracket was changed.

    Attributes:
        longest: maximum number of brackets, an even number.
    """

    longest: int = 16

    @property
    def vocabulary(self) -> Vocabulary:
        return BRACKETS

    def draw(self, dice: Random) -> str:
        text = self._balanced(dice, dice.randint(2, self.longest // 2))
        if dice.random() < 0.5:
            return text
        place = dice.randrange(len(text))
        other = dice.choice([bracket for bracket in "()[]" if bracket != text[place]])
        return text[:place] + other + text[place + 1 :]

    def _balanced(self, dice: Random, pairs: int) -> str:
        text, closing, left = "", [], pairs
        while left or closing:
            if left and (not closing or dice.random() < 0.5):
                bracket = dice.choice("([")
                text, left = text + bracket, left - 1
                closing.append(PAIRS[bracket])
            else:
                text += closing.pop()
        return text

    def key(self, item: str) -> str:
        return item

    def batch(self, items: Sequence[str]) -> Batch:
        answers = []
        for item in items:
            wrong = first_wrong(item)
            each = [WRONG if place == wrong else FINE for place in range(len(item))]
            answers.append([*each, FINE if wrong is None else WRONG])
        return _answered([BRACKETS.ids(item) for item in items], answers)


@dataclass(frozen=True)
class Modular:
    """Modular addition, a + b (Power et al. 2022).

    Attributes:
        modulus: of the addition.
    """

    modulus: int = 53

    @property
    def vocabulary(self) -> Vocabulary:
        return Vocabulary((*map(str, range(self.modulus)), "+", "="), "words")

    @property
    def every(self) -> list[tuple[int, int]]:
        """All items."""
        return [(a, b) for a in range(self.modulus) for b in range(self.modulus)]

    def draw(self, dice: Random) -> tuple[int, int]:
        return dice.randrange(self.modulus), dice.randrange(self.modulus)

    def key(self, item: tuple[int, int]) -> str:
        return f"{min(item)}+{max(item)}"  # 3 + 5 and 5 + 3 share a key: one reveals the other

    def batch(self, items: Sequence[tuple[int, int]]) -> Batch:
        words = self.vocabulary
        asked = [words.ids([str(a), "+", str(b), "="]) for a, b in items]
        answers = [words.ids([str((a + b) % self.modulus)]) for a, b in items]
        return _answered(asked, [[IGNORED] * 3 + answer for answer in answers])


def _answered(asked: list[list[int]], answers: list[list[int]]) -> Batch:
    ids = filled(asked)
    return Batch({"ids": ids, "padding": padding_of(ids)}, filled(answers, IGNORED))
