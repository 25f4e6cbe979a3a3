"""Every weight of a layer once, in blocks that stay in the processor's cache.

The weights of a layer are heads × tokens² numbers; a block holds 128 rows of one head, or of
several where the rows are short. Keys that no row of a block reaches are left out, which halves the
work of causal attention.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import torch
from jaxtyping import Float
from torch import Tensor

from models.attention.mask import Mask
from models.attention.scores import masked_scores

BLOCK_ROWS = 128
CACHE_BYTES = 2**22  # of what a loop reads at a time: it stays in the processor's cache
LOWEST = -1e30  # the score of a hidden key: finite, so that its product with a weight of 0 is 0
COARSE = -1e3  # below it float32 keeps less than four decimals of a score


@dataclass(frozen=True, eq=False)
class Block:
    """Some rows of some heads' weights, for one item of a batch.

    Its tensors are reused: they hold until the next block is asked for.

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

    @cached_property
    def peaks(self) -> Float[Tensor, "head row"]:
        """The largest weight of each row."""
        return self.weights.amax(-1)

    def log_totals(self) -> Float[Tensor, "head row"]:
        """The logarithm of each softmax's denominator: weight = exp(score − log total).

        Raises:
            ValueError: for weights that are not a plain softmax.
        """
        if self.scores is None:
            raise ValueError("expected the weights of a plain softmax, received others")
        return self.scores.amax(-1) - self.peaks.log()

    def entropy(self) -> Float[Tensor, "head row"]:
        """Entropy of each row in nats, −Σ w·ln w: 0 for one key, ln n for n equal weights.

        From scores s it is ln Σ exp(s) − Σ w·s, which takes one logarithm a row; 0 for empty rows.
        """
        if self.scores is None:
            return torch.special.entr(self.weights).sum(-1)
        entropy = self.log_totals() - torch.linalg.vecdot(self.weights, self.scores)
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


class InPlace:
    """Scores and softmax of one item's blocks, in two buffers that all blocks share."""

    def __init__(
        self,
        q: Float[Tensor, "head query dim"],
        k: Float[Tensor, "kv_head key dim"],
        scale: float,
        bias: Callable[[slice, range, slice], Tensor] | None,
        temperature: Float[Tensor, " head"] | None,
        mask: Mask,
        item: slice,
        heads: range,
    ) -> None:
        """Before any block.

        Args:
            q: queries of the item.
            k: keys of the item.
            scale: of the dot product.
            bias: of some rows, heads and keys of the item.
            temperature: one per head.
            mask: of the batch.
            item: of the batch.
            heads: the only ones whose blocks are computed: the keys of others are not copied.
        """
        self.group = len(q) // len(k)
        self.first = heads.start // self.group  # head of the first keys
        shared = slice(self.first, (heads.stop - 1) // self.group + 1)
        self.q, self.k, self.scale = q, k[shared].float().contiguous(), scale
        self.bias, self.temperature, self.mask, self.item = bias, temperature, mask, item
        self.buffers = self.k.new_empty(2, 0)
        exact = bias is not None or mask.hidden != -torch.inf
        self.never = -torch.inf if exact else LOWEST  # the highest score of a row without a key
        self.hidden: tuple[tuple[slice, slice], Tensor | None] | None = None  # keys of some rows

    def __call__(self, heads: slice, rows: slice, keys: slice) -> tuple[Tensor | None, Tensor]:
        """Scores and weights `head row key`; no scores where they are too coarse."""
        shape = [each.stop - each.start for each in (heads, rows, keys)]
        size = math.prod(shape)
        if self.buffers.shape[1] < size:
            self.buffers = self.k.new_empty(2, size)
        scores, weights = self.buffers[:, :size].view(2, *shape)
        self._score(heads, rows, keys, scores)
        may_be_empty = self._hide(heads, rows, keys, scores)
        torch.softmax(scores, -1, out=weights)
        if not may_be_empty:
            return scores, weights
        highest = scores.amax(-1, keepdim=True)
        empty = highest <= self.never
        weights.masked_fill_(empty, 0.0)
        if (~empty & (highest < COARSE)).any():
            return None, weights
        return scores if self.never == LOWEST else scores.clamp_(min=LOWEST), weights

    def _score(self, heads: slice, rows: slice, keys: slice, scores: Tensor) -> None:
        """Writes the scores, before the mask."""
        of_keys = [head // self.group - self.first for head in range(heads.start, heads.stop)]
        together = slice(of_keys[0], of_keys[-1] + 1)
        k = self.k[together, keys] if self.group == 1 else self.k[of_keys, keys]
        torch.bmm(self.q[heads, rows].float() * self.scale, k.transpose(-1, -2), out=scores)
        bias = None
        if self.bias is not None:
            bias = self.bias(rows, range(heads.start, heads.stop), keys).detach()[0]
        temperature = None if self.temperature is None else self.temperature[heads]
        masked_scores(scores, bias=bias, temperature=temperature, out=scores)

    def _hide(self, heads: slice, rows: slice, keys: slice, scores: Tensor) -> bool:
        """Applies the mask; returns whether a row may have no key left."""
        biased = self.bias is not None
        start = max(keys.start, self.mask.first_hidden(rows))
        if start >= keys.stop:
            return biased
        part = rows, slice(start, keys.stop)
        if self.hidden is None or self.hidden[0] != part or self.mask.differs_by_head:
            self.hidden = part, self._hidden(heads, *part)
        hidden = self.hidden[1]
        if hidden is None:
            return biased
        reached = scores[..., start - keys.start :]
        fill = self.never if self.mask.hidden == -torch.inf else self.mask.hidden
        masked_scores(reached, hidden=hidden, fill=fill, out=reached)
        return biased or not self.mask.only_causal

    def _hidden(self, heads: slice, rows: slice, keys: slice) -> Tensor | None:
        """True at hidden keys; None if there are none."""
        chosen = range(heads.start, heads.stop)
        places = torch.arange(rows.start, rows.stop, device=self.k.device)
        seen = self.mask.visible(places, keys.stop, chosen, start=keys.start)
        if seen is None:
            return None
        return ~(seen[0] if len(seen) == 1 else seen[self.item][0])
