"""Attention over something else than an item of the batch: windows of an image, packed sequences.

Some networks attend within windows and hand them over as if each were an item of the batch (Swin,
which also shifts the image under the windows). Vision towers of many families (Qwen2-VL and what
follows it) and audio towers lay all patches of all images in one sequence and state the boundaries
within which a patch attends: an image, a frame of a video, or a window. Here each image or video is
one pattern again: rows and columns are its own tokens in their own order, padded to the longest,
and a query sees the keys of its segment.

Some of these layers compute their weights without the attention interface. Their linear maps, the
position bias and the mask lie in modules and arguments: their recipe is built from those, and their
output is replaced by that of `attend`.

Source: Liu et al. 2021, "Swin Transformer", equation 4; Liu et al. 2022, "Swin Transformer V2",
sections 3.2 and 3.3 (cosine attention, log-spaced continuous position bias).
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import ceil, prod

import torch
import torch.nn.functional as F
from einops import rearrange
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from models.attention import Dot, Mask, Pattern


@dataclass(frozen=True, eq=False)
class Slots:
    """Where the tokens of each item lie in what a layer attends over: windows, or one sequence.

    Attributes:
        index: of each item's tokens, their place when all slots follow each other; −1 at padding.
        segment: of each of them; a token attends within its segment.
        shape: rows and slots of the layer's own batch.
        tokens: how many of an item's tokens attend: the first ones. The rest stands for what an
            image was filled up with, which is attended to.
        grid: rows and columns of the image that was cut into windows; None for a sequence.
        outside: row and column of each token beyond them.
    """

    index: Int[Tensor, "item token"]
    segment: Int[Tensor, "item token"]
    shape: tuple[int, int]
    tokens: int
    grid: tuple[int, int] | None = None
    outside: tuple[tuple[int, int], ...] = ()

    @staticmethod
    def of_windows(rows: int, cols: int, size: int, shift: int, batch: int) -> "Slots | None":
        """Square windows over images, padded to whole windows and cyclically shifted.

        Args:
            rows: of tokens.
            cols: of tokens.
            size: tokens along a side of a window.
            shift: by how many tokens the image is moved up and left under the windows.
            batch: number of windows of all images; None is returned where it is none.
        """
        high, wide = ceil(rows / size), ceil(cols / size)
        if batch % (high * wide):
            return None
        row, col = torch.meshgrid(
            torch.arange(size * high), torch.arange(size * wide), indexing="ij"
        )
        inside = (row < rows) & (col < cols)
        token = torch.empty_like(row)
        token[inside] = torch.arange(rows * cols)
        token[~inside] = torch.arange(rows * cols, token.numel())
        shifted = token.roll((-shift, -shift), (0, 1))
        order = rearrange(shifted, "(r a) (c b) -> (r c a b)", a=size, b=size).argsort()
        items = torch.arange(batch // (high * wide))[:, None]
        segment = (order // size**2).expand(len(items), -1)
        outside = tuple(zip(row[~inside].tolist(), col[~inside].tolist(), strict=True))
        index = order + token.numel() * items
        return Slots(index, segment, (batch, size**2), rows * cols, (rows, cols), outside)

    @staticmethod
    def of_sequence(boundaries: Tensor, items: Sequence[int]) -> "Slots":
        """From cumulative lengths of segments, and the lengths of the items.

        A boundary of an item has to be one of the segments; else the whole sequence is one item.
        """
        edges = boundaries.tolist()
        lengths = torch.tensor(edges).diff()
        segment = torch.repeat_interleave(torch.arange(len(lengths)), lengths)
        ends = torch.tensor([0, *items]).cumsum(0).tolist()
        fits = ends[-1] == edges[-1] and set(ends) <= set(edges)
        parts = torch.arange(edges[-1]).split([*items] if fits else edges[-1])
        index = pad_sequence([*parts], batch_first=True, padding_value=-1)
        return Slots(index, segment[index], (1, edges[-1]), index.shape[1])

    @property
    def lengths(self) -> list[int]:
        """Tokens of each item."""
        return (self.index >= 0).sum(1).tolist()

    def merge(self, x: Tensor) -> Tensor:
        """`row head slot dim` as `item head token dim`; zero at padding."""
        index = self.index.to(x.device)
        flat = rearrange(x, "row head slot dim -> head (row slot) dim")
        merged = flat[:, index.clamp(min=0)].transpose(0, 1)
        padding = (index < 0)[:, None, :, None]
        return merged.masked_fill(padding, 0) if padding.any() else merged

    def split(self, x: Tensor) -> Tensor:
        """The inverse of `merge`; zero at tokens that do not attend."""
        index = self.index[:, : x.shape[2]].to(x.device)
        flat = x.new_zeros(x.shape[1], prod(self.shape), x.shape[3])
        flat[:, index[index >= 0]] = x.transpose(0, 1)[:, index >= 0]
        return rearrange(flat, "head (row slot) dim -> row head slot dim", row=self.shape[0])

    def pattern(self, recipe: Pattern) -> Pattern:
        """The recipe of the slots, which have no mask but their segments, item by item."""
        given = recipe.mask
        if given.causal or given.dense is not None or given.padding is not None:
            raise ValueError("expected windows without a mask")
        q, k, v = (self.merge(x) for x in (recipe.q, recipe.k, recipe.v))
        padding, segment = (self.index < 0).to(q.device), self.segment.to(q.device)
        hidden = padding if padding.any() else None
        several = ((segment != segment[:, :1]) & ~padding).any()
        segments = segment if several else None
        mask = Mask(padding=hidden, query_padding=hidden, segments=segments)
        return replace(
            recipe, q=q[:, :, : self.tokens], k=k, v=v, mask=mask, bias=self._bias(recipe)
        )

    def _bias(self, recipe: Pattern) -> Callable[[Tensor], Tensor] | None:
        """The bias of windows as a function of the item's rows; the same for every item."""
        if not isinstance(recipe.bias, Tensor):
            return None
        size, heads = recipe.keys, recipe.heads
        window, slot = self.segment[0].to(recipe.q.device), self.index[0].to(recipe.q.device) % size
        tables = recipe.bias.detach()[: int(window.max()) + 1].expand(-1, heads, size, size)

        def rows(rows: Tensor) -> Tensor:
            rows = rows.to(window.device)
            table = (window[rows] if len(tables) > 1 else torch.zeros_like(rows))[:, None]
            return torch.stack(
                [tables[table, head, slot[rows][:, None], slot[None]] for head in range(heads)]
            )

        return rows

    def parts(self) -> list[tuple[int, Int[Tensor, " token"]]]:
        """Of each segment, in the layer's own order, its item and its tokens there."""
        item, token, segment = torch.full((3, prod(self.shape)), -1)
        filled = self.index >= 0
        item[self.index[filled]], token[self.index[filled]] = filled.nonzero().T
        segment[self.index[filled]] = self.segment[filled]
        runs = torch.stack([item, segment]).unique_consecutive(dim=1, return_counts=True)[1]
        counts = runs.tolist()
        pairs = zip(item.split(counts), token.split(counts), strict=True)
        return [(int(items[0]), tokens) for items, tokens in pairs]


# --- layers with attention of their own ---------------------------------------------------------

LARGEST_SCALE = 100.0  # of cosines; the library clamps the logarithm
LARGEST_BIAS = 16.0  # the continuous bias is a sigmoid times this

Recipe = Callable[[nn.Module, Tensor, Tensor | None], Pattern]


def recipe_of(kind: type[nn.Module]) -> Recipe | None:
    """How the recipe of such a layer is built from its input and mask; None for other layers."""
    inside = kind.__module__.startswith("transformers.models.")
    return RECIPES.get(kind.__name__) if inside else None


def dot_windows(
    layer: nn.Module,
    states: Float[Tensor, "window slot dim"],
    mask: Float[Tensor, "image_window slot slot"] | None,
) -> Pattern:
    """Scaled dot product with a table of relative position biases."""
    q, k, v = _projected(layer, states)
    bias = _relative(layer, layer.get_parameter("relative_position_bias_table"))
    return Pattern(q, k, v, score=Dot(q.shape[-1] ** -0.5), bias=_masked(bias, mask, len(q)))


def cosine_windows(
    layer: nn.Module,
    states: Float[Tensor, "window slot dim"],
    mask: Float[Tensor, "image_window slot slot"] | None,
) -> Pattern:
    """Cosine similarity over a learned temperature, with a bias that an MLP gives to offsets.

    The library adds the mask twice (−200 in place of −100), and so does the recipe.
    """
    q, k, v = _projected(layer, states)
    scale = layer.get_parameter("logit_scale").clamp(max=math.log(LARGEST_SCALE)).exp()
    offsets = layer.get_buffer("relative_coords_table")
    table = layer.get_submodule("continuous_position_bias_mlp")(offsets).flatten(0, -2)
    bias = LARGEST_BIAS * torch.sigmoid(_relative(layer, table))
    q, k = F.normalize(q, dim=-1) * scale, F.normalize(k, dim=-1)
    twice = None if mask is None else 2 * mask
    return Pattern(q, k, v, score=Dot(1.0), bias=_masked(bias, twice, len(q)))


def _projected(layer: nn.Module, states: Tensor) -> list[Tensor]:
    """Queries, keys and values, `window head slot dim`."""
    heads = layer.num_attention_heads
    projected = [layer.get_submodule(name)(states) for name in ("query", "key", "value")]
    return [
        rearrange(x, "window slot (head dim) -> window head slot dim", head=heads)
        for x in projected
    ]


def _relative(
    layer: nn.Module, table: Float[Tensor, "offset head"]
) -> Float[Tensor, "1 head slot slot"]:
    """The bias between the slots of a window, from that of each offset."""
    index = layer.get_buffer("relative_position_index")
    return rearrange(table[index], "query key head -> 1 head query key")


def _masked(bias: Tensor, mask: Tensor | None, windows: int) -> Tensor:
    """The bias, plus the mask of each window of an image; the same for every image."""
    if mask is None:
        return bias
    return (bias + mask[:, None]).repeat(windows // len(mask), 1, 1, 1)


RECIPES: dict[str, Recipe] = {
    "Swinv2SelfAttention": cosine_windows,
    "DonutSwinSelfAttention": dot_windows,
}
