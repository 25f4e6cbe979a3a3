"""One attention layer by itself: queries from one text, keys and values from another.

Every word has a random vector for its query, one for its key and one for its value, each of its own
width, as where the three come from different networks.

Source: Vaswani et al. 2017, section 3.2.2, with inputs of three widths as in Zhang et al., "Dive
into Deep Learning", section 11.5.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Int
from torch import Tensor, nn

from models.attention import (
    AttentionFields,
    Edit,
    Mask,
    MultiHeadAttention,
    MultiHeadAttentionConfig,
    attention_of,
)
from models.blocks import StackOutput
from models.checks import check_fields
from models.edits import at, check
from models.seeding import seeded
from models.where import Where


@dataclass(frozen=True, kw_only=True)
class AttentionLayerConfig(AttentionFields):
    """Sizes of the layer and of the vectors that it reads, with the fields of `AttentionFields`.

    Attributes:
        query_input_dim: width of the queries' vectors.
        key_input_dim: width of the keys'.
        value_input_dim: width of the values'.
        dim: width of the output.
        head_dim: width of one head's queries; None means dim / heads.
        value_dim: width of one head's values; None means that of its queries.
        attention_dropout: while training: of attention weights.
        vocab: how many words have vectors: random numbers, which nothing learns.
        max_tokens: the longest text.
        seed: of the random weights and vectors.
    """

    query_input_dim: int = 24
    key_input_dim: int = 16
    value_input_dim: int = 32
    dim: int = 64
    head_dim: int | None = None
    value_dim: int | None = None
    attention_dropout: float = 0.0
    vocab: int = 1000
    max_tokens: int = 1024
    seed: int = 0

    def __post_init__(self) -> None:
        check_fields(self)
        _ = self.attention  # which says what is wrong with it

    @property
    def depth(self) -> int:
        """Number of attention layers."""
        return 1

    @property
    def attention(self) -> MultiHeadAttentionConfig:
        """Of the layer."""
        return attention_of(self, input_dim=self.query_input_dim)


class AttentionLayer(nn.Module):
    """Ids of a source and a target in, one vector for every token of the target out."""

    sites = (Where(0, "cross", "decoder", "attention", 0),)

    def __init__(self, config: AttentionLayerConfig = AttentionLayerConfig()) -> None:
        super().__init__()
        self.config = config
        with seeded(config.seed):
            self.attention = MultiHeadAttention(config.attention)
            for name in ("query", "key", "value"):
                width = getattr(config, f"{name}_input_dim")
                vectors = torch.randn(config.vocab, width)
                self.register_buffer(f"{name}_vectors", vectors, persistent=False)

    def forward(
        self,
        source: Int[Tensor, "batch key"],
        target: Int[Tensor, "batch query"],
        *,
        padding: Bool[Tensor, "batch key"] | None = None,
        query_padding: Bool[Tensor, "batch query"] | None = None,
        edits: Sequence[Edit] = (),
    ) -> StackOutput:
        """Runs the layer.

        Args:
            source: ids of the words that are attended to.
            target: ids of the words that attend.
            padding: True at words of the source that only fill the batch up.
            query_padding: True at such words of the target.
            edits: interventions, in order.
        """
        check(edits, self.sites)
        x = F.embedding(target, self.get_buffer("query_vectors"))
        keys = F.embedding(source, self.get_buffer("key_vectors"))
        values = F.embedding(source, self.get_buffer("value_vectors"))
        mask = Mask(padding=padding, query_padding=query_padding)
        out, pattern = self.attention(x, keys, values, mask=mask, edit=at(edits, *self.sites))
        return StackOutput(out, (x, out), ((pattern,),))
