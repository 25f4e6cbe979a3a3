"""The vision transformer (ViT).

Source: Dosovitskiy et al. 2021. With `head="flatten"`, `norm="post"` and `dim=None` the patches go
into the blocks as they are, and all of them into the head. Registers: Darcet et al. 2024.
"""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from math import prod

import torch
from einops import rearrange
from jaxtyping import Float
from torch import Tensor, nn

from models.attention import Edit, MultiHeadAttentionConfig, attention_of
from models.blocks import ACTIVATIONS, StackConfig, StackOutput, blocks_of, run_blocks
from models.checks import check_fields, divisors
from models.edits import BLOCK_EDITS, check
from models.positional import GRID_POSITIONS, GridPositions
from models.progress import Progress, no_progress
from models.seeding import seeded, xavier
from models.where import Where, stack

CHOICES = {
    "positions": GRID_POSITIONS,
    "patches": ("linear", "conv"),
    "order": ("p1 p2 c", "c p1 p2"),
    "head": ("class", "mean", "flatten"),
    "head_activation": (None, *ACTIVATIONS),
}
Sizes = tuple[int, int]
Size = int | Sizes


def pair(size: Size) -> Sizes:
    """Rows and columns; one number stands for both."""
    return (size, size) if isinstance(size, int) else size


def check_patch(image: Size, patch: Size) -> None:
    """Raises ValueError, with what would fit, unless patches cover the image exactly."""
    if min(*pair(image), *pair(patch)) < 1:
        raise ValueError(f"image, patch: expected at least 1, received {image} and {patch}")
    for side, part in zip(pair(image), pair(patch), strict=True):
        if side % part:
            raise ValueError(
                f"patch {part} does not divide image {side}: expected one of {divisors(side)}"
            )


@dataclass(frozen=True)
class ViTConfig(StackConfig):
    """Everything that defines a vision transformer, its random weights included.

    The fields of its blocks and of their attention are those of `blocks.StackConfig`. With
    norm = "pre" one more norm stands before the head.

    Attributes:
        image: size it is built for, one number or (rows, columns) of pixels.
        patch: size of a patch, one number or (rows, columns) of pixels.
        channels: of the image.
        classes: of the head; 0 means no head, None the last of `neurons`, or else 10.
        dim: width of the model; None keeps the patches as they are, without a projection.
        head_dim: width of one head; None means width / heads.
        positions: one of `positional.GRID_POSITIONS`; registers have none.
        patches: how a patch becomes a token: "linear" or "conv", which is the same sum.
        order: of a patch's numbers: "p1 p2 c" (channels last) or "c p1 p2".
        head: what it reads: the "class" token, the "mean" of all patches, or all of them
            ("flatten", for one image size only). Only "class" has a class token.
        neurons: widths of the head's layers, `classes` last; () means one layer. Between two
            layers stand BatchNorm and activation.
        head_activation: between the layers of the head; None means `activation`.
        head_dropout: while training: before each layer of the head; None means `dropout`.
        out_projection: one of `multihead.OUT_PROJECTIONS`.
        patch_norm: whether a LayerNorm stands between a patch's projection and its position.
        token_std: the normal distribution that class token and registers are drawn from has this
            standard deviation; 0 starts them at zero.
        position_std: the same of learned positions.
        embed_dropout: of what goes into the first block; None means `dropout`.
        registers: extra learned tokens that stand for no patch.
    """

    image: Size = 64
    patch: Size = 8
    _: KW_ONLY
    channels: int = 3
    classes: int | None = None
    dim: int | None = 64
    head_dim: int | None = None
    positions: str = "learned"
    patches: str = "linear"
    order: str = "p1 p2 c"
    head: str = "class"
    neurons: tuple[int, ...] = ()
    head_activation: str | None = None
    head_dropout: float | None = None
    out_projection: str = "always"
    patch_norm: bool = False
    token_std: float = 1.0
    position_std: float = 1.0
    dropout: float = 0.0
    embed_dropout: float | None = None
    registers: int = 0
    eps: float = 1e-6

    def __post_init__(self) -> None:
        check_fields(self, **CHOICES)
        check_patch(self.image, self.patch)
        super().__post_init__()
        if self.dim is None and self.patches == "conv":
            raise ValueError("patches: expected 'linear' without a dim, received 'conv'")
        if self.positions == "sincos2d" and self.width % 4:
            raise ValueError(f"sincos2d: expected a width divisible by 4, received {self.width}")
        if min(self.neurons, default=1) < 1:
            raise ValueError(f"neurons: expected widths from 1, received {self.neurons}")
        if self.neurons and self.classes not in (None, self.neurons[-1]):
            raise ValueError(
                f"classes: expected the last of neurons {self.neurons}, received {self.classes}"
            )

    @property
    def width(self) -> int:
        """Width of the model."""
        return self.channels * prod(pair(self.patch)) if self.dim is None else self.dim

    @property
    def grid(self) -> Sizes:
        """Rows and columns of patches."""
        (rows, cols), (high, wide) = pair(self.image), pair(self.patch)
        return rows // high, cols // wide

    @property
    def prefix(self) -> tuple[str, ...]:
        """The tokens in front of the patches."""
        registers = (f"register {index}" for index in range(self.registers))
        return (*(("class",) if self.head == "class" else ()), *registers)

    @property
    def tokens(self) -> int:
        """Number of tokens for an image of the configured size."""
        return len(self.prefix) + prod(self.grid)

    @property
    def layers(self) -> tuple[int, ...]:
        """Widths of the head's layers; () without a head."""
        classes = 10 if self.classes is None else self.classes
        return self.neurons or ((classes,) if classes else ())

    @property
    def attention(self) -> MultiHeadAttentionConfig:
        """Of every attention layer."""
        return attention_of(self, dim=self.width)


def cut(
    pixels: Float[Tensor, "batch channel row col"], patch: Size, order: str = "p1 p2 c"
) -> Float[Tensor, "batch patch number"]:
    """The image as patches, row by row, each flattened in this order of its axes.

    Args:
        pixels: whole patches of them.
        patch: one number or (rows, columns).
        order: of "p1" (row in the patch), "p2" (column in the patch) and "c" (channel).
    """
    high, wide = pair(patch)
    return rearrange(
        pixels,
        f"batch c (row p1) (col p2) -> batch (row col) ({order})",
        p1=high,
        p2=wide,
    )


class Patches(nn.Module):
    """Cuts an image up and projects every patch; without a width they stay as they are."""

    def __init__(
        self, patch: Size, channels: int, dim: int | None, kind: str, order: str = "p1 p2 c"
    ) -> None:
        super().__init__()
        self.patch, self.channels, self.kind, self.order = pair(patch), channels, kind, order
        numbers = channels * prod(self.patch)
        if kind == "conv" and dim is not None:
            self.project = nn.Conv2d(channels, dim, self.patch, stride=self.patch)
        else:
            self.project = nn.Identity() if dim is None else nn.Linear(numbers, dim)

    def forward(
        self, pixels: Float[Tensor, "batch channel row col"]
    ) -> tuple[Float[Tensor, "batch patch dim"], Sizes]:
        """The tokens, and how many rows and columns of patches they are."""
        grid = self.grid(pixels.shape)
        high, wide = (count * side for count, side in zip(grid, self.patch, strict=True))
        pixels = pixels[..., :high, :wide]
        if self.kind == "conv":
            return rearrange(self.project(pixels), "b dim row col -> b (row col) dim"), grid
        return self.project(cut(pixels, self.patch, self.order)), grid

    def grid(self, shape: tuple[int, ...]) -> Sizes:
        """Rows and columns of the whole patches in pixels of this shape; the rest is not read.

        Raises:
            ValueError: for other channels, and a picture that is smaller than a patch.
        """
        _, channels, high, wide = shape
        if channels != self.channels or high < 1 or wide < 1:
            raise ValueError(
                f"expected an image of {self.channels} channels, received {tuple(shape)}"
            )
        rows, cols = high // self.patch[0], wide // self.patch[1]
        if not rows or not cols:
            raise ValueError(
                "the picture is smaller than a patch: expected at least"
                f" {self.patch[1]} × {self.patch[0]} pixels, received {wide} × {high}"
            )
        return rows, cols


class Classifier(nn.Module):
    """A vector in, one logit per class out."""

    def __init__(
        self, dim: int, widths: Sequence[int], *, activation: str = "relu", dropout: float = 0.0
    ) -> None:
        """Builds the layers.

        Args:
            dim: width of what comes in.
            widths: of each layer; the last is the number of classes.
            activation: between two layers, one of `blocks.ACTIVATIONS`.
            dropout: while training: before each layer.
        """
        super().__init__()
        into = (dim, *widths[:-1])
        self.layers = nn.ModuleList(nn.Linear(*sizes) for sizes in zip(into, widths, strict=True))
        self.norms = nn.ModuleList(nn.BatchNorm1d(width) for width in widths[:-1])
        self.dropout = nn.Dropout(dropout)
        self.activation = ACTIVATIONS[activation]

    def forward(self, x: Float[Tensor, "batch dim"]) -> Float[Tensor, "batch class"]:
        *hidden, last = self.layers
        for layer, norm in zip(hidden, self.norms, strict=True):
            x = self.activation(norm(layer(self.dropout(x))))
        return last(self.dropout(x))


class ViT(nn.Module):
    """An image in, logits and every head's pattern out."""

    def __init__(self, config: ViTConfig = ViTConfig()) -> None:
        super().__init__()
        self.config, width = config, config.width
        with seeded(config.seed):
            self.patches = Patches(
                config.patch, config.channels, config.dim, config.patches, config.order
            )
            self.patch_norm = config.norm_if(config.patch_norm)
            drawn = torch.empty(len(config.prefix), width)
            self.prefix = nn.Parameter(nn.init.normal_(drawn, std=config.token_std))
            first = int(config.head == "class")
            self.positions = GridPositions(
                config.positions, config.grid, width, first, std=config.position_std
            )
            share = config.embed_dropout
            self.dropout = nn.Dropout(config.dropout if share is None else share)
            self.blocks = blocks_of(config)
            self.norm = config.norm_if(config.norm == "pre")
            self.head = _head(config) if config.layers else None
            self.apply(xavier)

    @property
    def sites(self) -> tuple[Where, ...]:
        """Its attention layers, in the order of their calls."""
        return stack(len(self.blocks), "self", "blocks.{}.attention")

    def forward(
        self,
        pixels: Float[Tensor, "batch channel row col"],
        *,
        edits: Sequence[Edit] = (),
        progress: Progress = no_progress,
    ) -> StackOutput:
        """Runs the network; for another size than it was built for, positions are resampled.

        Args:
            pixels: of images.
            edits: interventions, in order.
            progress: called before each block and after the last; see `models.progress`.

        Raises:
            ValueError: for channels or a size that do not fit.
        """
        check(edits, self.sites, BLOCK_EDITS)
        x, sites = self.embed(pixels), self.sites
        states, patterns = run_blocks(self.blocks, x, sites, edits=edits, progress=progress)
        hidden = self.norm(states[-1])
        logits = None if self.head is None else self.head(self.pool(hidden))
        return StackOutput(hidden, states, patterns, logits)

    def embed(
        self, pixels: Float[Tensor, "batch channel row col"]
    ) -> Float[Tensor, "batch token dim"]:
        """Input of the first block: class token, registers, patches row by row."""
        x, grid = self.patches(pixels)
        x = self.patch_norm(x)
        if self.config.head == "flatten" and grid != self.config.grid:
            raise ValueError(
                f"a head that reads all patches is bound to its grid: expected {self.config.grid}"
                f" patches, received {grid}"
            )
        leading = self.positions.leading
        prefix = self.prefix.expand(len(x), -1, -1)
        x = self.positions(torch.cat([prefix[:, :leading], x], dim=1), grid)
        x = torch.cat([x[:, :leading], prefix[:, leading:], x[:, leading:]], dim=1)
        return self.dropout(x)

    def pool(self, hidden: Float[Tensor, "batch token dim"]) -> Float[Tensor, "batch feature"]:
        """The input of the head."""
        if self.config.head == "class":
            return hidden[:, 0]
        patches = hidden[:, self.config.registers :]
        if self.config.head == "mean":
            return patches.mean(1)
        return rearrange(patches, "batch token dim -> batch (token dim)")


def _head(config: ViTConfig) -> Classifier:
    share = config.head_dropout
    return Classifier(
        config.width * prod(config.grid) if config.head == "flatten" else config.width,
        config.layers,
        activation=config.head_activation or config.activation,
        dropout=config.dropout if share is None else share,
    )
