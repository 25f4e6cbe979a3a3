"""Attention in windows of an image merged into one pattern.

Some networks attend within windows and hand them over as if each were an item of the batch (Swin,
Liu et al. 2021, which also shifts the image under the windows). Here the windows of one item become
one pattern again: rows and columns are the item's own tokens in their own order, and a query sees
the keys of its window.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import ceil

import torch
from einops import rearrange
from jaxtyping import Float, Int
from torch import Tensor

from models.attention import Pattern


@dataclass(frozen=True, eq=False)
class Blocks:
    """The mapping from slots of blocks to token positions.

    Attributes:
        positions: the token position of each slot of each block.
        tokens: how many of the positions are the item's own: the first ones. The rest stands for
            what an image was filled up with, which is attended to and does not attend.
        grid: rows and columns of the image's own tokens.
        outside: row and column of each position beyond them.
    """

    positions: Int[Tensor, "block slot"]
    tokens: int
    grid: tuple[int, int]
    outside: tuple[tuple[int, int], ...] = ()

    @staticmethod
    def of_image(rows: int, cols: int, size: int, shift: int) -> "Blocks":
        """Square windows over an image, padded to whole windows and cyclically shifted.

        Args:
            rows: of tokens.
            cols: of tokens.
            size: tokens along a side of a window.
            shift: by how many tokens the image is moved up and left under the windows.
        """
        high, wide = size * ceil(rows / size), size * ceil(cols / size)
        row, col = torch.meshgrid(torch.arange(high), torch.arange(wide), indexing="ij")
        inside = (row < rows) & (col < cols)
        position = torch.empty(high, wide, dtype=torch.long)
        position[inside] = torch.arange(rows * cols)
        position[~inside] = rows * cols + torch.arange(high * wide - rows * cols)
        shifted = position.roll((-shift, -shift), (0, 1))
        place = rearrange(shifted, "(r a) (c b) -> (r c) (a b)", a=size, b=size)
        outside = zip(row[~inside].tolist(), col[~inside].tolist(), strict=True)
        return Blocks(place, rows * cols, (rows, cols), tuple(outside))

    @property
    def count(self) -> int:
        return self.positions.shape[0]

    @property
    def _order(self) -> Int[Tensor, " token"]:
        """Of each token, its place when the blocks follow each other."""
        return self.positions.flatten().argsort()

    def merge(self, x: Tensor) -> Tensor:
        """`(batch block) head slot dim` as `batch head token dim`, tokens in their own order."""
        x = rearrange(x, "(b w) h s d -> b h (w s) d", w=self.count)
        return x[:, :, self._order.to(x.device)]

    def merge_states(self, x: Float[Tensor, "_ slot dim"]) -> Float[Tensor, "_ token dim"]:
        """Hidden states of windows as those of the items, tokens in their own order."""
        return self.merge(x[:, None])[:, 0, : self.tokens]

    def split(self, x: Tensor) -> Tensor:
        """The inverse of `merge`; rows of padding are zero."""
        missing = self.positions.numel() - x.shape[2]
        x = torch.nn.functional.pad(x, (0, 0, 0, missing))
        x = x[:, :, self.positions.flatten().to(x.device)]
        return rearrange(x, "b h (w s) d -> (b w) h s d", w=self.count)

    def pattern(self, blocks: Pattern) -> Pattern:
        """Merges a pattern whose batch items are blocks into one pattern per item."""
        q, k, v = (self.merge(x) for x in (blocks.q, blocks.k, blocks.v))
        if blocks.mask.causal or blocks.mask.dense is not None or blocks.mask.padding is not None:
            raise ValueError("expected windows without a mask")
        order, slots = self._order.to(q.device), self.positions.shape[1]
        block, slot = order // slots, order % slots
        segments = block.expand(len(q), -1) if self.count > 1 else None
        return replace(
            blocks,
            q=q[:, :, : self.tokens],
            k=k,
            v=v,
            mask=replace(blocks.mask, segments=segments),
            bias=_bias(blocks, self.count, block, slot),
        )


def _bias(
    blocks: Pattern, count: int, block: Tensor, slot: Tensor
) -> Callable[[int | None, Tensor], Tensor] | None:
    """The bias of the blocks as a function of the item's rows; the same for every item."""
    if not isinstance(blocks.bias, Tensor):
        return None
    size = blocks.keys
    tables = blocks.bias.detach()[:count].expand(-1, blocks.heads, size, size)

    def rows(head: int | None, rows: Tensor) -> Tensor:
        rows = rows.to(block.device)
        table = (block[rows] if len(tables) > 1 else torch.zeros_like(rows))[:, None]
        heads = range(blocks.heads) if head is None else [head]
        biases = [tables[table, each, slot[rows][:, None], slot[None]] for each in heads]
        return torch.stack(biases) if head is None else biases[0]

    return rows
