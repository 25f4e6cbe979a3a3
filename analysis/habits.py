"""Scores of simple attention patterns for each head on one sentence.

The score of a habit is the mean weight on the keys it names (the previous token, the first token,
…): 1 if all weight goes there. It describes a head on this sentence, not the head's function.

Source: the habits of Clark et al. 2019, "What Does BERT Look At?", section 3.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from models.trace import Site, Trace

HABITS = ("previous", "itself", "next", "same word", "first", "last")
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


def habits(trace: Trace, *, words: bool = False, item: int = 0, tower: str | None = None) -> Habits:
    """The habits of every head of a text model's self-attention.

    Args:
        trace: a text with a special token at each end; the rows of these tokens are ignored.
        words: whether to drop the special tokens' columns and renormalise the rows.
        item: index in the batch.
        tower: of a model with several; None for the first one.

    Raises:
        ValueError: for fewer than 4 tokens, where the habits coincide, and for a trace without
            self-attention among the tokens of the tower.
    """
    sites = _self_attention(trace, tower)
    labels = tuple(trace.query_labels(sites[0], item))
    if len(labels) < 4:
        raise ValueError(f"expected at least 4 tokens, received {len(labels)}")
    rows = range(1, len(labels) - 1)
    weights = [trace.weights(site, rows=rows, item=item) for site in sites]
    weights = [_between_words(each) for each in weights] if words else weights
    scores = torch.stack([_scores(each, labels) for each in weights], dim=1)
    entropy = torch.stack([torch.special.entr(each).sum(-1).mean(-1) for each in weights])
    spread = entropy / math.log(len(labels) - 2 * words)
    return Habits(scores, spread, _names(scores, spread))


def _self_attention(trace: Trace, tower: str | None) -> list[Site]:
    """The self-attention of one tower, all of it among the same tokens."""
    found = [site for site in trace.sites if site.kind in ("self", "causal")]
    tower = found[0].tower if tower is None and found else tower
    mine = [site for site in found if site.tower == tower]
    sizes = {(site.heads, site.queries, site.keys) for site in mine}
    if len(sizes) != 1 or mine[0].queries != mine[0].keys:
        towers = sorted({str(site.tower) for site in found})
        raise ValueError(
            f"habits: expected self-attention among the same tokens in every layer of one of"
            f" {towers}, received {tower!r}"
        )
    return mine


def _between_words(weights: Float[Tensor, "head row key"]) -> Float[Tensor, "head row key"]:
    """Weights without the first and last key, renormalised."""
    inner = torch.zeros_like(weights)
    inner[..., 1:-1] = weights[..., 1:-1]
    total = inner.sum(-1, keepdim=True)
    return inner / torch.where(total > 0, total, 1)


def _scores(
    weights: Float[Tensor, "head row key"], labels: Sequence[str]
) -> Float[Tensor, "habit head"]:
    """Mean weight for each habit; the first row is the second token."""
    last = len(labels) - 1
    words = [label.lower() for label in labels]
    twins = torch.tensor(
        [
            [row != key and words[row] == words[key] for key in range(last + 1)]
            for row in range(1, last)
        ]
    )
    near = [weights.diagonal(offset, -2, -1)[:, : last - 1].mean(-1) for offset in range(3)]
    same = weights[:, twins].sum(-1) / max(1, int(twins.any(-1).sum()))
    return torch.stack([*near, same, weights[..., 0].mean(-1), weights[..., last].mean(-1)])


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
