"""Numbers of one row of weights; a head's number is their mean over the queries that count."""

from collections.abc import Callable
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor


class Rows(NamedTuple):
    """Rows of weights, and what is known of them.

    Attributes:
        weights: after softmax, of consecutive keys; those of all other keys are 0.
        entropy: in nats; a sink of the softmax counts as one more key.
        peak: the largest weight.
        spread: the logarithm of the number of keys that the query sees, with that sink.
    """

    weights: Float[Tensor, "*head row key"]
    entropy: Float[Tensor, "*head row"]
    peak: Float[Tensor, "*head row"]
    spread: Float[Tensor, "*head row"]


ROW_NUMBERS: dict[str, Callable[[Rows], Float[Tensor, "*head row"]]] = {
    "entropy": lambda rows: rows.entropy,
    "broad": lambda rows: rows.entropy / rows.spread,
    "effective keys": lambda rows: rows.entropy.exp(),
    "confidence": lambda rows: rows.peak,
}


def with_sink(rows: Rows, sink: Float[Tensor, "*head row"] | None) -> Rows:
    """The rows of a softmax with a sink, given its weight in each; None for one without."""
    if sink is None:
        return rows
    entropy = rows.entropy + torch.special.entr(sink)
    return rows._replace(entropy=entropy, spread=rows.spread.exp().log1p())


def numbers_of(rows: Rows) -> dict[str, Float[Tensor, "*head row"]]:
    """Every number of `ROW_NUMBERS`."""
    return {key: number(rows) for key, number in ROW_NUMBERS.items()}
