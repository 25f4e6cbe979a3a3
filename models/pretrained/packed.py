"""Packed sequences: the images of a batch, one after another, as items of a batch again.

Vision towers of many families (Qwen2-VL and what follows it) lay all patches of all images in one
sequence and state the boundaries within which a patch attends: an image, a frame of a video, or a
window. Here each image or video becomes an item, padded to the longest; its frames and windows
are segments of one map. Audio towers of the same families do so with sounds.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from einops import rearrange
from jaxtyping import Float, Int
from torch import Tensor

from models.attention import Mask, Pattern
from models.inputs.layout import Layout
from models.picture_grid import PictureGrid, frame_name
from models.trace import TokenAxis


def packed_axis(
    grid: Sequence[Sequence[int]],
    merge: int,
    window: Int[Tensor, " square"] | None = None,
    depth: int = 1,
    *,
    video: bool = False,
) -> TokenAxis:
    """The patches of packed images or videos.

    Squares of `merge` × `merge` patches, which become one token of text, follow each other.

    Source: Wang et al. 2024 (Qwen2-VL), section 2.1.

    Args:
        grid: tubes of frames, rows and columns of each item.
        merge: patches along a side of the squares.
        window: the squares of all items, in the order of their windows; None for that of squares.
        depth: frames of a tube.
        video: whether an item of a single tube is a video.
    """
    order = "(t r a c b) -> (t r c a b)"
    places = [
        rearrange(torch.arange(t * rows * cols), order, t=t, a=merge, b=merge, c=cols // merge)
        for t, rows, cols in grid
    ]
    if window is not None:
        squares = torch.cat(places).view(-1, merge**2)[window.cpu()]
        places = list(squares.flatten().split([len(each) for each in places]))
    layouts = [
        Layout(rows, cols, frames=_firsts(tubes, depth, video), chosen=order[None])
        for (tubes, rows, cols), order in zip(grid, places, strict=True)
    ]
    tokens = tuple(layout.tokens(1)[0] for layout in layouts)
    sizes = zip(grid, places, layouts, strict=True)
    return TokenAxis(tokens, pictures=tuple(_over(item, *e, depth) for item, e in enumerate(sizes)))


def _over(
    item: int, size: Sequence[int], order: Int[Tensor, " token"], layout: Layout, depth: int
) -> tuple[PictureGrid, ...]:
    """Where the tokens of an item lie on its picture, or on the frames of its video that share
    them."""
    tubes, rows, cols = size
    cells = order.argsort().view(tubes, rows, cols)
    if not layout.frames:
        return (PictureGrid(item, cells[0]),)
    frames = (range(first, first + depth) for first in layout.frames)
    return tuple(
        PictureGrid(item, places, name=frame_name(those), frames=tuple(those))
        for places, those in zip(cells, frames, strict=True)
    )


def _firsts(tubes: int, depth: int, video: bool) -> tuple[int, ...]:
    """The first frame of each tube of a video; () for an image."""
    return tuple(range(0, tubes * depth, depth)) if tubes > 1 or video else ()


@dataclass(frozen=True, eq=False)
class Packing:
    """Where the items of a packed sequence lie.

    Attributes:
        lengths: tokens of each item, in order.
        segment: of each token of the sequence; a token attends within its segment.
    """

    lengths: tuple[int, ...]
    segment: Int[Tensor, " token"]

    @staticmethod
    def of(boundaries: Tensor, items: Sequence[int]) -> "Packing":
        """From cumulative lengths of segments, and the lengths of the items.

        A boundary of an item has to be one of the segments; else the whole sequence is one item.
        """
        edges = boundaries.tolist()
        lengths = torch.tensor(edges).diff()
        segment = torch.repeat_interleave(torch.arange(len(lengths)), lengths)
        ends = torch.tensor([0, *items]).cumsum(0).tolist()
        fits = ends[-1] == edges[-1] and set(ends) <= set(edges)
        return Packing(tuple(items) if fits else (edges[-1],), segment)

    @property
    def longest(self) -> int:
        return max(self.lengths)

    def unpack(self, x: Tensor) -> Tensor:
        """`1 head token dim` as `item head token dim`, zeros behind the shorter ones."""
        parts = x[0].split(self.lengths, dim=1)
        padded = [torch.nn.functional.pad(p, (0, 0, 0, self.longest - p.shape[1])) for p in parts]
        return torch.stack(padded)

    def pack(self, x: Tensor) -> Tensor:
        """The inverse of `unpack`."""
        parts = [each[:, :count] for each, count in zip(x, self.lengths, strict=True)]
        return torch.cat(parts, dim=1)[None]

    def unpack_maps(
        self, maps: Sequence[Float[Tensor, "1 head _ _"]]
    ) -> Float[Tensor, "item head query key"] | None:
        """Maps of consecutive segments as one map an item, zeros between segments.

        None if a segment is not within one item, or the segments are not the whole sequence.
        """
        ends = torch.tensor(self.lengths).cumsum(0).tolist()
        heads, start = maps[0].shape[1], 0
        whole = maps[0].new_zeros(len(ends), heads, self.longest, self.longest)
        for weights in maps:
            count = weights.shape[-1]
            item = bisect_right(ends, start)
            if item == len(ends) or start + count > ends[item]:
                return None
            first = start - ends[item] + self.lengths[item]
            span = slice(first, first + count)
            whole[item, :, span, span] = weights[0]
            start += count
        return whole if start == ends[-1] else None

    def pattern(self, packed: Pattern) -> Pattern:
        """The recipe of a packed sequence, which has no mask but its segments, item by item."""
        q, k, v = (self.unpack(x) for x in (packed.q, packed.k, packed.v))
        device = q.device
        padding = torch.arange(self.longest) >= torch.tensor(self.lengths)[:, None]
        mask = Mask()
        if padding.any():
            mask = Mask(padding=padding.to(device), query_padding=padding.to(device))
        segments = self.unpack(self.segment[None, None, :, None].to(device))[:, 0, :, 0]
        if not (segments == segments[:, :1])[~padding.to(device)].all():
            mask = Mask(padding=mask.padding, query_padding=mask.query_padding, segments=segments)
        return Pattern(q, k, v, mask=mask, score=packed.score)
