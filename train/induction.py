"""The induction task: sequences that repeat a part of themselves.

The repeat begins at a random place, is of random length and copies a random part, so that the
position alone tells nothing (Olsson et al. 2022).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from string import ascii_lowercase, digits

import torch

from train.task import IGNORED, Batch
from train.vocabulary import Vocabulary, filled, padding_of

ADJOINING = 0.5  # of the repeats: what they copy stands right before them
EMPHASIS = 0.9  # of what can be known: most of the other signs are mere chance
SIGNS = Vocabulary((*ascii_lowercase, *digits), "characters", begin=True)


@dataclass(frozen=True)
class Repeat:
    """Signs, of which some in a row come again.

    Attributes:
        text: all of it; before the repeat no sign stands twice.
        start: where the repeat begins.
        length: of the repeat.
    """

    text: str
    start: int
    length: int


@dataclass(frozen=True)
class Induction:
    """Random letters and digits with a repeat; what comes next, at every sign?

    Graded is what can be known: the repeat from its second sign on.

    Attributes:
        fewest: how few signs stand before the repeat.
        most: how many.
        longest: of the repeat.
        tail: how many new signs may follow it.
    """

    fewest: int = 4
    most: int = 24
    longest: int = 24
    tail: int = 4

    @property
    def vocabulary(self) -> Vocabulary:
        return SIGNS

    def draw(self, dice: Random) -> Repeat:
        signs = "".join(dice.sample(SIGNS.tokens, len(SIGNS.tokens)))
        before = dice.randint(self.fewest, dice.randint(self.fewest, self.most))
        adjoining = dice.random() < ADJOINING
        length = dice.randint(2, min(self.longest, before // 2 if adjoining else before))
        first = before - length if adjoining else dice.randint(0, before - length)
        tail = signs[before : before + dice.randint(0, self.tail)]
        text = signs[:before] + signs[first : first + length] + tail
        return Repeat(text, before, length)

    def key(self, item: Repeat) -> str:
        return item.text

    def batch(self, items: Sequence[Repeat]) -> Batch:
        rows = [SIGNS.ids(item.text) for item in items]
        ids, target = filled([row[:-1] for row in rows]), filled([row[1:] for row in rows], IGNORED)
        graded = torch.zeros_like(target, dtype=torch.bool)
        for row, item in enumerate(items):
            graded[row, item.start + 1 : item.start + item.length] = True
        return Batch({"ids": ids, "padding": padding_of(ids)}, target, graded, EMPHASIS)
