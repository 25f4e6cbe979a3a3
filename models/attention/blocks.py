"""Every weight of a layer once, in blocks that stay in the processor's cache.

The weights of a layer are heads × tokens² numbers; a block holds 128 rows of one head, or of
several where the rows are short. Keys that no row of a block reaches are left out, which halves the
work of causal attention.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import torch
from jaxtyping import Float
from torch import Tensor

from models.attention.scores import Additive, Dot

if TYPE_CHECKING:
    from models.attention.pattern import Pattern

BLOCK_ROWS = 128
BLOCK_BYTES = 2**22  # weights of one head
SEVERAL_BYTES = 2**22  # weights of several heads together
LOWEST = -1e30  # the score of a hidden key: finite, so that its product with a weight of 0 is 0


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
            are not a plain softmax (edits, a sink).
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
        found = self.log_totals() - torch.linalg.vecdot(self.weights, self.scores)
        return torch.where(self.peaks > 0, found.clamp(min=0.0), 0.0)


Read = Callable[[slice, slice], Block]


def weight_blocks(
    pattern: "Pattern", heads: range, rows: range, keys: int, item: int, max_bytes: int
) -> Iterator[Block]:
    """The weights of some heads and rows of one item of a pattern.

    Args:
        pattern: of the layer.
        heads: consecutive heads.
        rows: consecutive queries.
        keys: number of keys from the first on; fewer than the pattern's for a padded item.
        item: of its batch.
        max_bytes: weights in a block.
    """
    compute = InPlace(pattern, item, heads) if _plain(pattern) else None

    def read(chosen: slice, some: slice) -> Block:
        if compute is None:
            each = range(chosen.start, chosen.stop)
            weights = torch.stack([pattern.weights(head, some, item=item) for head in each])
            return Block(chosen, some, slice(0, keys), weights.detach()[..., :keys])
        reached = pattern.mask.reach(some, keys)
        scores, weights = compute(chosen, some, reached)
        return Block(chosen, some, reached, weights, scores)

    hidden = pattern.score.width if isinstance(pattern.score, Additive) else 1
    yield from read_blocks(read, heads, rows, keys, max_bytes // hidden)


def read_blocks(
    read: Read, heads: range, rows: range, keys: int, max_bytes: int = BLOCK_BYTES
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
    together = max(1, min(max_bytes, SEVERAL_BYTES) // (4 * keys * step))
    for start in range(rows.start, rows.stop, step):
        some = slice(start, min(start + step, rows.stop))
        for first in range(heads.start, heads.stop, together):
            yield read(slice(first, min(first + together, heads.stop)), some)


class InPlace:
    """Scores and softmax of one item's blocks, in two buffers that all blocks share."""

    def __init__(self, pattern: "Pattern", item: int, heads: range) -> None:
        """Before any block.

        Args:
            pattern: of the layer.
            item: of its batch.
            heads: the only ones whose blocks are computed: the keys of others are not copied.
        """
        self.pattern = pattern
        self.item = slice(item, item + 1)
        self.group = pattern.heads // pattern.k.shape[1]
        self.first = heads.start // self.group  # head of the first keys
        shared = slice(self.first, (heads.stop - 1) // self.group + 1)
        self.q = pattern.q.detach()[item]
        self.k = pattern.k.detach()[item, shared].float().contiguous()
        self.buffers = self.k.new_empty(2, 0)
        self.hidden: tuple[tuple[slice, slice], Tensor | None] | None = None  # keys of some rows

    def __call__(self, heads: slice, rows: slice, keys: slice) -> tuple[Tensor, Tensor]:
        """Scores and weights `head row key`."""
        shape = [each.stop - each.start for each in (heads, rows, keys)]
        size = math.prod(shape)
        if self.buffers.shape[1] < size:
            self.buffers = self.k.new_empty(2, size)
        scores, weights = self.buffers[:, :size].view(2, *shape)
        self._score(heads, rows, keys, scores)
        may_be_empty = self._hide(heads, rows, keys, scores)
        torch.softmax(scores, -1, out=weights)
        if may_be_empty:
            weights.masked_fill_(scores.amax(-1, keepdim=True) <= LOWEST, 0.0)
        return scores, weights

    def _score(self, heads: slice, rows: slice, keys: slice, scores: Tensor) -> None:
        """Writes the scores, before the mask."""
        pattern = self.pattern
        given = pattern.score.scale if isinstance(pattern.score, Dot) else None
        scale = self.q.shape[-1] ** -0.5 if given is None else given
        of_keys = [head // self.group - self.first for head in range(heads.start, heads.stop)]
        together = slice(of_keys[0], of_keys[-1] + 1)
        k = self.k[together, keys] if self.group == 1 else self.k[of_keys, keys]
        torch.bmm(self.q[heads, rows].float() * scale, k.transpose(-1, -2), out=scores)
        if pattern.bias is not None:
            self._add_bias(heads, rows, keys, scores)
        if pattern.temperature is not None:
            scores /= pattern.temperature[heads, None, None]
        if pattern.bias is not None:
            scores.clamp_(min=LOWEST)  # a bias of −∞ hides a key

    def _add_bias(self, heads: slice, rows: slice, keys: slice, scores: Tensor) -> None:
        chosen = range(heads.start, heads.stop)
        bias = self.pattern.bias_rows(_positions(rows, scores), chosen, self.item)
        if bias is not None:
            scores += bias.detach()[0, ..., keys if bias.shape[-1] > 1 else slice(None)]

    def _hide(self, heads: slice, rows: slice, keys: slice, scores: Tensor) -> bool:
        """Applies the mask; returns whether a row may have no key left."""
        mask, biased = self.pattern.mask, self.pattern.bias is not None
        start = max(keys.start, mask.first_hidden(rows))
        if start >= keys.stop:
            return biased
        part = rows, slice(start, keys.stop)
        if self.hidden is None or self.hidden[0] != part or mask.differs_by_head:
            self.hidden = part, self._hidden(heads, *part, scores)
        hidden = self.hidden[1]
        if hidden is None:
            return biased
        fill = LOWEST if mask.fill is None else mask.fill
        scores[..., start - keys.start :].masked_fill_(hidden, fill)
        return biased or not mask.only_causal

    def _hidden(self, heads: slice, rows: slice, keys: slice, like: Tensor) -> Tensor | None:
        """True at hidden keys; None if there are none."""
        chosen, places = range(heads.start, heads.stop), _positions(rows, like)
        seen = self.pattern.mask.visible(places, keys.stop, chosen, start=keys.start)
        if seen is None:
            return None
        return ~(seen[0] if len(seen) == 1 else seen[self.item][0])


def _plain(pattern: "Pattern") -> bool:
    """Whether the weights are the softmax of scaled dot products, bias and mask alone."""
    score = pattern.score
    dot = isinstance(score, Dot) and score.softcap is None and score.sink is None
    return dot and not pattern.weights_edits and pattern.q.dtype != torch.float64


def _positions(rows: slice, like: Tensor) -> Tensor:
    return torch.arange(rows.start, rows.stop, device=like.device)
