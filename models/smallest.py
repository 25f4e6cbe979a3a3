"""The smallest transformer: linear(norm(x + attention(x))), a number for every word."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from models.attention import Edit, Mask, MultiHeadAttention, MultiHeadAttentionConfig
from models.blocks import StackOutput
from models.checks import check_fields
from models.edits import at, check
from models.seeding import seeded
from models.where import Where


def unscaled(dim: int) -> MultiHeadAttentionConfig:
    """One learned head as wide as the model: no scale, no biases, no output projection."""
    return MultiHeadAttentionConfig(
        dim=dim, heads=1, qkv_bias=False, dot_scaling="none", out_projection="needed"
    )


@dataclass(frozen=True)
class SmallestConfig:
    """Sizes of the smallest transformer.

    Attributes:
        dim: width of a word.
        vocab: how many words have a vector of their own: random numbers, which nothing learns.
        max_tokens: the longest input.
        seed: of the random weights and words.
    """

    dim: int = 3
    vocab: int = 1000
    max_tokens: int = 512
    seed: int = 0

    def __post_init__(self) -> None:
        check_fields(self)

    @property
    def depth(self) -> int:
        """Number of attention layers."""
        return 1

    @property
    def heads(self) -> int:
        """Attention heads in it."""
        return 1


class Smallest(nn.Module):
    """Attention, residual connection, norm, and a linear layer to one number per word."""

    sites = (Where(0, "self", module="attention", part=0),)

    def __init__(self, config: SmallestConfig = SmallestConfig()) -> None:
        super().__init__()
        self.config = config
        with seeded(config.seed):
            self.attention = MultiHeadAttention(unscaled(config.dim))
            self.norm = nn.LayerNorm(config.dim)
            self.out = nn.Linear(config.dim, 1)
            self.register_buffer("words", torch.rand(config.vocab, config.dim), persistent=False)

    def forward(
        self,
        ids: Int[Tensor, "batch word"] | Float[Tensor, "batch word dim"],
        *,
        padding: Bool[Tensor, "batch word"] | None = None,
        edits: Sequence[Edit] = (),
    ) -> StackOutput:
        """Runs the network.

        Args:
            ids: of words, or vectors in their place.
            padding: True at words that only fill the batch up.
            edits: interventions, in order.
        """
        check(edits, self.sites)
        x = ids if ids.is_floating_point() else F.embedding(ids, self.get_buffer("words"))
        attended, pattern = self.attention(
            x, mask=Mask(padding=padding), edit=at(edits, *self.sites)
        )
        hidden = self.norm(x + attended)
        logits = self.out(hidden)
        return StackOutput(hidden, (x, hidden), ((pattern,),), logits, named="predictions")
