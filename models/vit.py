"""The vision transformer: an image is cut into patches, and every patch is a token.

Source: Dosovitskiy et al. 2021. With `head="flatten"`, `norm="post"` and `dim=None` the patches go
into the blocks as they are, and all of them into the head. Registers: Darcet et al. 2024.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import torch
from einops import rearrange
from jaxtyping import Float
from torch import Tensor, nn

from models.attention import Edit, MultiHeadAttentionConfig, Pattern
from models.blocks import BLOCKS
from models.classifier import Classifier
from models.edits import at, check
from models.patches import Patches
from models.positional import GridPositions
from models.seeding import seeded, xavier
from models.vit_config import ViTConfig

__all__ = ["ViT", "ViTConfig", "ViTOutput"]


@dataclass(frozen=True, eq=False)
class ViTOutput:
    """What a forward pass leaves behind.

    Attributes:
        logits: of the classes; None without a head.
        hidden: the last block's output (normed if pre-norm).
        states: the embedding, then the output of each block: depth + 1 of them.
        patterns: one per block.
    """

    logits: Float[Tensor, "batch class"] | None
    hidden: Float[Tensor, "batch token dim"]
    states: tuple[Float[Tensor, "batch token dim"], ...]
    patterns: tuple[Pattern, ...]

    @property
    def result(self) -> tuple[str, Tensor]:
        """What the network is for, and what to call it."""
        if self.logits is None:
            return "hidden states", self.hidden
        return "logits", self.logits


class ViT(nn.Module):
    """An image in, logits and every head's pattern out."""

    def __init__(self, config: ViTConfig = ViTConfig()) -> None:
        super().__init__()
        self.config, width = config, config.width
        with seeded(config.seed):
            self.patches = Patches(
                config.patch, config.channels, config.dim, config.patches, config.order
            )
            norm = nn.LayerNorm(width, eps=config.eps)
            self.patch_norm = norm if config.patch_norm else nn.Identity()
            self.prefix = nn.Parameter(config.token_std * torch.randn(len(config.prefix), width))
            first = int(config.head == "class")
            self.positions = GridPositions(
                config.positions, config.grid, width, first, std=config.position_std
            )
            self.dropout = nn.Dropout(_or(config.embed_dropout, config.dropout))
            self.blocks = nn.ModuleList(_block(config, layer) for layer in range(config.depth))
            last = nn.LayerNorm(width, eps=config.eps)
            self.norm = last if config.norm == "pre" else nn.Identity()
            self.head = _head(config) if config.layers else None
            self.apply(xavier)

    def forward(
        self, pixels: Float[Tensor, "batch channel row col"], *, edits: Sequence[Edit] = ()
    ) -> ViTOutput:
        """Runs the network; for another size than it was built for, positions are resampled.

        Raises:
            ValueError: for channels or a size that do not fit.
        """
        check(edits, self.config.depth)
        x = self.embed(pixels)
        states, patterns = [x], []
        for layer, block in enumerate(self.blocks):
            x, pattern = block(x, edit=at(edits, layer, "self"))
            states.append(x)
            patterns.append(pattern)
        hidden = self.norm(x)
        logits = None if self.head is None else self.head(self.pool(hidden))
        return ViTOutput(logits, hidden, tuple(states), tuple(patterns))

    def embed(
        self, pixels: Float[Tensor, "batch channel row col"]
    ) -> Float[Tensor, "batch token dim"]:
        """What goes into the first block: class token, registers, patches row by row."""
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
        """What the head reads."""
        if self.config.head == "class":
            return hidden[:, 0]
        patches = hidden[:, self.config.registers :]
        if self.config.head == "mean":
            return patches.mean(1)
        return rearrange(patches, "batch token dim -> batch (token dim)")


def _block(config: ViTConfig, layer: int) -> nn.Module:
    attention = MultiHeadAttentionConfig(
        dim=config.width,
        heads=config.heads,
        head_dim=config.head_dim,
        qkv_bias=config.qkv_bias,
        dot_scaling=config.dot_scaling,
        out_projection=config.out_projection,
        dropout=config.dropout,
    )
    return BLOCKS[config.norm](
        attention,
        config.mlp,
        activation=config.activation,
        dropout=config.dropout,
        drop_path=config.drop_path * layer / max(1, config.depth - 1),
        eps=config.eps,
    )


def _head(config: ViTConfig) -> Classifier:
    return Classifier(
        config.width * prod(config.grid) if config.head == "flatten" else config.width,
        config.layers,
        activation=config.head_activation or config.activation,
        dropout=_or(config.head_dropout, config.dropout),
    )


def _or(own: float | None, common: float) -> float:
    return common if own is None else own
