"""Every weight of a layer once, in blocks that stay in the processor's cache.

The weights of a layer are heads × tokens² numbers; a block holds 128 rows of one head, or of
several where the rows are short. Keys that no row of a block reaches are left out, which halves the
work of causal attention.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import torch
from jaxtyping import Float
from torch import Tensor

BLOCK_ROWS = 128
CACHE_BYTES = 2**22  # of what a loop reads at a time: it stays in the processor's cache
LOWEST = -1e30  # the score of a hidden key: finite, so that its product with a weight of 0 is 0
COARSE = -1e3  # below it float32 keeps less than four decimals of a score


@dataclass(frozen=True, eq=False)
class Block:
    """Some rows of some heads' weights, for one item of a batch.

    Attributes:
        heads: which heads.
        rows: which queries.
        keys: which keys; the weights of all others are 0.
        weights: float32.
        scores: of which `weights` is the softmax, very low at hidden keys; None for weights that
            are not a plain softmax (edits, a sink), and for rows whose highest score is `COARSE`.
    """

    heads: slice
    rows: slice
    keys: slice
    weights: Float[Tensor, "head row key"]
    scores: Float[Tensor, "head row key"] | None = None

    @staticmethod
    def of_scores(
        heads: slice, rows: slice, keys: slice, scores: Float[Tensor, "head row key"], masked: bool
    ) -> "Block":
        """The softmax of scores, which are written to; `masked` where any may be −∞."""
        weights = torch.softmax(scores, -1)
        if not masked:
            return Block(heads, rows, keys, weights, scores)
        highest = scores.amax(-1, keepdim=True)
        empty = highest.isneginf()
        weights.masked_fill_(empty, 0.0)
        coarse = bool((~empty & (highest < COARSE)).any())
        return Block(heads, rows, keys, weights, None if coarse else scores.clamp_(min=LOWEST))

    @cached_property
    def peaks(self) -> Float[Tensor, "head row"]:
        """The largest weight of each row."""
        return self.weights.amax(-1)

    def entropy(self) -> Float[Tensor, "head row"]:
        """Entropy of each row in nats, −Σ w·ln w: 0 for one key, ln n for n equal weights.

        From scores s it is ln Σ exp(s) − Σ w·s, which takes one logarithm a row; 0 for empty rows.
        """
        if self.scores is None:
            return torch.special.entr(self.weights).sum(-1)
        log_totals = self.scores.amax(-1) - self.peaks.log()  # weight = exp(score − log total)
        entropy = log_totals - torch.linalg.vecdot(self.weights, self.scores)
        return torch.where(self.peaks > 0, entropy.clamp(min=0.0), 0.0)


Read = Callable[[slice, slice], Block]


def read_blocks(
    read: Read, heads: range, rows: range, keys: int, max_bytes: int = CACHE_BYTES
) -> Iterator[Block]:
    """Blocks in order of their rows; for the same rows, all heads in order.

    Args:
        read: computes the block of some heads and rows.
        heads: consecutive heads.
        rows: consecutive queries.
        keys: number of keys.
        max_bytes: weights in a block.
    """
    step = max(1, min(BLOCK_ROWS, len(rows), max_bytes // (4 * keys)))
    together = max(1, min(max_bytes, CACHE_BYTES) // (4 * keys * step))
    for start in range(rows.start, rows.stop, step):
        some = slice(start, min(start + step, rows.stop))
        for first in range(heads.start, heads.stop, together):
            yield read(slice(first, min(first + together, heads.stop)), some)
