"""The encoder: a stack of blocks with bidirectional self-attention.

Sources: Vaswani et al. 2017, section 3.1; with `segments`, `embed_norm` and learned positions it
is BERT (Devlin et al. 2019).
"""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from math import sqrt

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from models.attention import Edit, Mask
from models.attention.relative import RelativePositions
from models.blocks import StackOutput, TextConfig, blocks_of, run_blocks
from models.edits import BLOCK_EDITS, check
from models.output import Projection
from models.positional import positions_of
from models.progress import Progress, no_progress
from models.seeding import seeded, xavier
from models.where import Where, stack


@dataclass(frozen=True)
class EncoderConfig(TextConfig):
    """Everything that defines an encoder, its random weights included.

    The fields that other networks of tokens have too are those of `blocks.TextConfig`.

    Attributes:
        vocab: how many token ids.
        head_dim: width of one head; None means dim / heads.
        value_dim: width of one head's values; None means that of its queries.
        embed_scale: whether embeddings are multiplied by √dim.
        segments: how many kinds of segment (two sentences in BERT) have an embedding.
        embed_norm: whether a LayerNorm stands between embeddings and blocks.
        embed_norm_last: whether it comes after the dropout there, not before it (as in BERT).
        padding: the token id whose embedding stays zero; None if there is none.
        classes: how many classes each token gets logits for; 0 means no head.
    """

    vocab: int = 1000
    _: KW_ONLY
    head_dim: int | None = None
    value_dim: int | None = None
    norm: str = "post"
    embed_scale: bool = False
    segments: int = 0
    embed_norm: bool = False
    embed_norm_last: bool = False
    padding: int | None = None
    classes: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.padding is not None and not 0 <= self.padding < self.vocab:
            raise ValueError(f"padding: expected 0 to {self.vocab - 1}, received {self.padding}")


class Encoder(nn.Module):
    """Token ids in, one vector per token out, and every head's pattern."""

    def __init__(self, config: EncoderConfig = EncoderConfig()) -> None:
        super().__init__()
        self.config = config
        with seeded(config.seed):
            self.tokens = nn.Embedding(config.vocab, config.dim, padding_idx=config.padding)
            self.positions = positions_of(config.positions, config.max_tokens, config.dim)
            self.relation = RelativePositions(
                config.positions, config.heads, config.attention.width
            )
            self.segments = nn.Embedding(config.segments, config.dim) if config.segments else None
            self.embed_norm = config.norm_if(config.embed_norm)
            self.dropout = nn.Dropout(config.dropout)
            self.blocks = blocks_of(config)
            self.norm = config.norm_if(config.ends_on_norm)
            self.apply(xavier)
            self.head = Projection(config.dim, config.classes) if config.classes else None

    @property
    def sites(self) -> tuple[Where, ...]:
        """Its attention layers, in the order of their calls."""
        return stack(len(self.blocks), "self", "blocks.{}.attention")

    def forward(
        self,
        ids: Int[Tensor, "batch token"],
        *,
        padding: Bool[Tensor, "batch token"] | None = None,
        segments: Int[Tensor, "batch token"] | None = None,
        edits: Sequence[Edit] = (),
        progress: Progress = no_progress,
    ) -> StackOutput:
        """Runs the encoder.

        Args:
            ids: token ids.
            padding: True at tokens that only fill the batch up.
            segments: which segment each token belongs to; None means the first.
            edits: interventions, in order.
            progress: called before each block and after the last; see `models.progress`.

        Raises:
            ValueError: for more tokens than the model has room for.
        """
        check(edits, self.sites, BLOCK_EDITS)
        states, patterns = run_blocks(
            self.blocks,
            self.embed(ids, segments),
            self.sites,
            edits=edits,
            padding=padding,
            progress=progress,
            mask=Mask(padding=padding, fill=self.config.mask_fill),
            relation=self.relation(ids.shape[1]),
        )
        hidden = self.norm(states[-1])
        logits = None if self.head is None else self.head(hidden)
        return StackOutput(hidden, states, patterns, logits)

    def embed(
        self,
        ids: Int[Tensor, "batch token"],
        segments: Int[Tensor, "batch token"] | None = None,
    ) -> Float[Tensor, "batch token dim"]:
        """Input of the first block."""
        config = self.config
        if ids.shape[1] > config.max_tokens:
            raise ValueError(
                f"expected at most {config.max_tokens} tokens, received {ids.shape[1]}"
            )
        x = self.tokens(ids)
        if config.embed_scale:
            x = x * sqrt(config.dim)
        if self.segments is not None:
            x = x + self.segments(torch.zeros_like(ids) if segments is None else segments)
        x = self.positions(x)
        if config.embed_norm_last:
            return self.embed_norm(self.dropout(x))
        return self.dropout(self.embed_norm(x))


def padding_of(ids: Int[Tensor, "batch token"], fill: int) -> Bool[Tensor, "batch token"] | None:
    """True where ids only fill up; None if none do, which leaves attention its fastest way, and on
    the meta device, where ids have no values."""
    if ids.is_meta:
        return None
    padding = ids == fill
    return padding if bool(padding.any()) else None
