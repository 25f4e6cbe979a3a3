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


def _answered(asked: list[list[int]], answers: list[list[int]]) -> Batch:
    ids = filled(asked)
    return Batch({"ids": ids, "padding": padding_of(ids)}, filled(answers, IGNORED))
