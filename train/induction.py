"""The induction task: sequences that repeat a part of themselves.

The repeat has a random position, length and source, so that positions alone are not informative
(Olsson et al. 2022).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from string import ascii_lowercase, digits

import torch

from train.task import IGNORED, Batch
from train.vocabulary import Vocabulary, filled, padding_of

ADJOINING = 0.5  # share of repeats that directly follow what they copy
EMPHASIS = 0.9  # share of the loss for predictable symbols: most others are random
SIGNS = Vocabulary((*ascii_lowercase, *digits), "characters", begin=True)


@dataclass(frozen=True)
class Repeat:
    """A sequence of symbols with a repeated part.

    Attributes:
        text: the sequence; no symbol occurs twice before the repeat.
        start: position of the repeat.
        length: of the repeat.
    """

    text: str
    start: int
    length: int


@dataclass(frozen=True)
class Induction:
    """Next-symbol prediction on random letters and digits with a repeat.

    Only predictable symbols are graded: the repeat from its second symbol on.

    Attributes:
        fewest: minimum number of symbols before the repeat.
        most: maximum number of symbols before the repeat.
        longest: maximum length of the repeat.
        tail: maximum number of new symbols after it.
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
