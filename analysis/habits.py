"""The habit that each head of a text comes closest to, from the numbers of heads.

The score of a habit is the mean weight on the keys it names (the previous token, the first token,
…): 1 if all weight goes there. It describes a head on this sentence, not the head's function.

Source: the habits of Clark et al. 2019, "What Does BERT Look At?", section 3.
"""

from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from analysis.heads import heads
from models.trace import Trace

NUMBERS = {  # by habit, the number of a head that is its score
    "previous": "previous token",
    "itself": "same token",
    "next": "next token",
    "same word": "duplicate token",
    "first": "first token",
    "last": "separator",
}
HABITS = tuple(NUMBERS)
FROM = 0.4  # a habit with at least this mean weight names the head
BROAD = 0.8  # a head with at least this share of the maximum entropy is "broad"


class Habits(NamedTuple):
    """Habit scores of every head, and by layer and head the habit with the largest one, or "broad"
    or "mixed" where it is below `FROM`."""

    scores: Float[Tensor, "habit layer head"]
    names: tuple[tuple[str, ...], ...]


def habits(trace: Trace) -> Habits:
    """The habits of every head of an encoder or decoder."""
    values = heads(trace, [*NUMBERS.values(), "broad"])
    scores = torch.stack([values[key] for key in NUMBERS.values()]).nan_to_num(0.0)
    best, which = scores.max(0)

    def name(layer: int, head: int) -> str:
        if best[layer, head] >= FROM:
            return HABITS[int(which[layer, head])]
        return "broad" if values["broad"][layer, head] >= BROAD else "mixed"

    layers, count = best.shape
    return Habits(scores, tuple(tuple(name(n, h) for h in range(count)) for n in range(layers)))
