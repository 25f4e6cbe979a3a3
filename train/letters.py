"""Two tasks on single characters: reversal for an encoder, induction for a decoder."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from string import ascii_lowercase, digits

import torch

from train.task import Batch
from train.vocabulary import IGNORED, Vocabulary, filled, padding_of, shifted

CHARACTERS = ascii_lowercase + digits
LETTERS = Vocabulary(ascii_lowercase, "characters", end=True)
SIGNS = Vocabulary(CHARACTERS, "characters", begin=True)


@dataclass(frozen=True)
class Reverse:
    """Letters in, the same letters backwards out, one for each token.

    Attributes:
        shortest: minimum number of letters.
        longest: maximum number of letters.
    """

    shortest: int = 4
    longest: int = 12
    vocabulary = LETTERS

    def draw(self, dice: Random) -> str:
        return "".join(dice.choices(ascii_lowercase, k=dice.randint(self.shortest, self.longest)))

    def key(self, item: str) -> str:
        return item

    def batch(self, items: Sequence[str]) -> Batch:
        ids = filled([LETTERS.ids(item) for item in items])
        answers = filled([LETTERS.ids(item[::-1]) for item in items], IGNORED)
        return Batch({"ids": ids, "padding": padding_of(ids)}, answers)


@dataclass(frozen=True)
class Repeat:
    """A sequence of characters with a repeated part.

    Attributes:
        text: the sequence; no character occurs twice before the repeat.
        start: position of the repeat.
        length: of the repeat.
    """

    text: str
    start: int
    length: int


@dataclass(frozen=True)
class Induction:
    """Next-character prediction on sequences that repeat a part of themselves.

    Position, length and source of the repeat are random, so that positions alone say nothing
    (Olsson et al. 2022). Only what can be predicted is graded: the repeat from its second
    character on. It has 90 % of the loss, since most other characters are random.
    """

    vocabulary = SIGNS

    def draw(self, dice: Random) -> Repeat:
        signs = "".join(dice.sample(CHARACTERS, len(CHARACTERS)))
        before = dice.randint(4, dice.randint(4, 24))
        adjoining = dice.random() < 0.5  # the repeat directly follows what it copies
        length = dice.randint(2, before // 2 if adjoining else before)
        first = before - length if adjoining else dice.randint(0, before - length)
        tail = signs[before : before + dice.randint(0, 4)]
        return Repeat(signs[:before] + signs[first : first + length] + tail, before, length)

    def key(self, item: Repeat) -> str:
        return item.text

    def batch(self, items: Sequence[Repeat]) -> Batch:
        arguments, target = shifted([SIGNS.ids(item.text) for item in items])
        graded = torch.zeros_like(target, dtype=torch.bool)
        for row, item in enumerate(items):
            graded[row, item.start + 1 : item.start + item.length] = True
        return Batch(arguments, target, graded, emphasis=0.9)
