"""The habit that each head of a text comes closest to, from the numbers of heads.

The score of a habit is the mean weight on the keys it names (the previous token, the first token,
…): 1 if all weight goes there. It describes a head on this sentence, not the head's function.

Source: the habits of Clark et al. 2019, "What Does BERT Look At?", section 3.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from analysis.heads import SELF_KINDS, head_table
from analysis.view import View
from models.trace import Site, Trace

NUMBERS = {  # by habit, the number of a head that is its score
    "previous": "previous token",
    "itself": "same token",
    "next": "next token",
    "same word": "duplicate token",
    "first": "first token",
    "last": "separator",
}
HABITS = tuple(NUMBERS)
SPECIAL = ("first", "last")
FROM = 0.4  # a habit with at least this mean weight names the head
BROAD = 0.8  # a head with at least this share of the maximum entropy is "broad"


@dataclass(frozen=True, eq=False)
class Habits:
    """Habit scores of every head on one text.

    Attributes:
        scores: from 0 to 1, one for each of `HABITS`.
        spread: mean row entropy divided by the maximum: 0 for one key, 1 for uniform weights.
        names: `[layer][head]`, the habit with the largest score; "broad" or "mixed" below `FROM`.
    """

    scores: Float[Tensor, "habit layer head"]
    spread: Float[Tensor, "layer head"]
    names: tuple[tuple[str, ...], ...]


def habits(trace: Trace, *, words: bool = False, tower: str | None = None) -> Habits:
    """The habits of every head of a text model's self-attention.

    Args:
        trace: of a text; special tokens are no queries.
        words: whether to drop the special tokens' columns and renormalise the rows.
        tower: of a model with several; None for the first one.

    Raises:
        ValueError: for fewer than 4 tokens, where the habits coincide, and for a trace without
            self-attention among the tokens of the tower.
    """
    sites = _self_attention(trace, tower)
    count = len(trace.query_labels(sites[0]))
    if count < 4:
        raise ValueError(f"expected at least 4 tokens, received {count}")
    view = View(trace, words=False, special="renormalised") if words else trace
    values = head_table(view).values
    rows = [trace.sites.index(site) for site in sites]
    scores = torch.stack([values[key][rows] for key in NUMBERS.values()]).nan_to_num(0.0)
    if words:  # the special tokens that these habits are about are not there
        scores[[HABITS.index(name) for name in SPECIAL]] = 0
    spread = values["broad"][rows]
    return Habits(scores, spread, _names(scores, spread))


def _self_attention(trace: Trace, tower: str | None) -> list[Site]:
    """The self-attention of one tower, all of it among the same tokens."""
    sites = [site for site in trace.sites if site.kind in SELF_KINDS]
    tower = sites[0].tower if tower is None and sites else tower
    mine = [site for site in sites if site.tower == tower]
    sizes = {(site.heads, site.queries, site.keys) for site in mine}
    if len(sizes) != 1 or mine[0].queries != mine[0].keys:
        towers = sorted({str(site.tower) for site in sites})
        raise ValueError(
            f"habits: expected self-attention among the same tokens in every layer of one of"
            f" {towers}, received {tower!r}"
        )
    return mine


def _names(
    scores: Float[Tensor, "habit layer head"], spread: Float[Tensor, "layer head"]
) -> tuple[tuple[str, ...], ...]:
    best, which = scores.max(0)

    def name(layer: int, head: int) -> str:
        if best[layer, head] >= FROM:
            return HABITS[int(which[layer, head])]
        return "broad" if spread[layer, head] >= BROAD else "mixed"

    layers, heads = best.shape
    return tuple(tuple(name(layer, head) for head in range(heads)) for layer in range(layers))
