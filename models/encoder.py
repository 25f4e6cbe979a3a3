"""The encoder: a stack of blocks with bidirectional self-attention.

Sources: Vaswani et al. 2017, section 3.1; with `segments`, `embed_norm` and learned positions it
is BERT (Devlin et al. 2019).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from models.attention import (
    Edit,
    Mask,
    MultiHeadAttentionConfig,
    Pattern,
    check_heads,
)
from models.blocks import ACTIVATIONS, BLOCKS, NORMS, drop_path_of, norm_of, share_or
from models.checks import check_choices, check_least, check_shares
from models.edits import BLOCK_EDITS, at, check, edited_state, positions_for
from models.output import Projection
from models.positional import (
    POSITIONS,
    Order,
    check_rotary,
    positions_of,
    relation_at,
    relation_of,
    tells_positions,
    with_positions,
)
from models.progress import Progress, each, no_progress
from models.seeding import seeded, xavier
from models.where import Where, stack


@dataclass(frozen=True)
class EncoderConfig:
    """Everything that defines an encoder, its random weights included.

    Attributes:
        vocab: how many token ids.
        dim: width of the model.
        depth: number of blocks.
        heads: attention heads in each.
        head_dim: width of one head; None means dim / heads.
        key_dim: width of one head's keys; None means that of its queries, another one needs
            bilinear scores.
        value_dim: width of one head's values; None means that of its queries.
        mlp: hidden width of the feed-forward network.
        activation: of the feed-forward network, one of `blocks.ACTIVATIONS`.
        norm: "post" or "pre".
        positions: one of `positional.POSITIONS`; the learned bias of "relative" is one table for
            all layers, as in T5.
        max_tokens: the longest input.
        dropout: while training: of attention weights, hidden units and residual branches.
        embed_scale: whether embeddings are multiplied by √dim.
        segments: how many kinds of segment (two sentences in BERT) have an embedding.
        embed_norm: whether a LayerNorm stands between embeddings and blocks.
        embed_norm_last: whether it comes after the dropout there, not before it (as in BERT).
        last_norm: whether the stack ends on one more norm; None means with pre-norm only.
        norm_kind: one of `blocks.NORMS`.
        eps: of every norm.
        padding: the token id whose embedding stays zero; None if there is none.
        classes: how many classes each token gets logits for; 0 means no head.
        qkv_bias: whether query, key and value projections have a bias.
        out_bias: whether the output projection of attention has one.
        scoring: what compares queries with keys, one of `attention.SCORINGS`.
        dot_scaling: one of `attention.DOT_SCALINGS`.
        scale: factor of the dot product; None means that `dot_scaling` decides.
        value_shortcut: whether attention adds its values to its output, bypassing the output
            projection.
        attention_dropout: of attention weights; None means `dropout`.
        projection_dropout: of what the output projection of attention returns.
        output_dropout: applied after it, before a value shortcut is added.
        drop_path: probability that an item skips the last block while training; it falls linearly
            to 0 at the first block.
        mask_fill: the score of a hidden key, see `Mask.fill`.
        seed: of the random weights.
    """

    vocab: int = 1000
    dim: int = 64
    depth: int = 2
    heads: int = 4
    head_dim: int | None = None
    key_dim: int | None = None
    value_dim: int | None = None
    mlp: int = 256
    activation: str = "gelu"
    norm: str = "post"
    positions: str = "sinusoidal"
    max_tokens: int = 512
    dropout: float = 0.1
    embed_scale: bool = False
    segments: int = 0
    embed_norm: bool = False
    embed_norm_last: bool = False
    last_norm: bool | None = None
    eps: float = 1e-5
    padding: int | None = None
    classes: int = 0
    qkv_bias: bool = True
    out_bias: bool = True
    scoring: str = "dot"
    dot_scaling: str = "sqrt"
    scale: float | None = None
    value_shortcut: bool = False
    attention_dropout: float | None = None
    projection_dropout: float = 0.0
    output_dropout: float = 0.0
    drop_path: float = 0.0
    norm_kind: str = "layer"
    mask_fill: float | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        check_heads(self.dim, self.heads, self.head_dim)
        check_least(self, {"vocab": 1, "depth": 1, "value_dim": 1, "mlp": 1, "max_tokens": 1})
        check_least(self, {"classes": 0})
        check_choices(
            self,
            {"activation": tuple(ACTIVATIONS), "norm": tuple(BLOCKS), "positions": POSITIONS}
            | {"norm_kind": tuple(NORMS)},
        )
        check_shares(self, ("dropout", "attention_dropout", "drop_path"))
        _ = self.attention  # which says what is wrong with it
        if self.padding is not None and not 0 <= self.padding < self.vocab:
            raise ValueError(f"padding: expected 0 to {self.vocab - 1}, received {self.padding}")
        if self.segments < 0 or self.eps <= 0:
            raise ValueError(
                f"segments, eps: expected 0 or more and above 0,"
                f" received {self.segments}, {self.eps}"
            )
        check_rotary(self.positions, self.width, self.attention.key_width)
        Mask(fill=self.mask_fill)  # which says what is wrong with it

    @property
    def ends_on_norm(self) -> bool:
        """Whether the stack ends with a norm."""
        return self.norm == "pre" if self.last_norm is None else self.last_norm

    @property
    def width(self) -> int:
        """Width of one head."""
        return self.dim // self.heads if self.head_dim is None else self.head_dim

    @property
    def attention(self) -> MultiHeadAttentionConfig:
        """Of the attention in every block."""
        return MultiHeadAttentionConfig(
            dim=self.dim,
            heads=self.heads,
            head_dim=self.head_dim,
            key_dim=self.key_dim,
            value_dim=self.value_dim,
            qkv_bias=self.qkv_bias,
            out_bias=self.out_bias,
            scoring=self.scoring,
            dot_scaling=self.dot_scaling,
            scale=self.scale,
            value_shortcut=self.value_shortcut,
            dropout=share_or(self.attention_dropout, self.dropout),
            projection_dropout=self.projection_dropout,
            output_dropout=self.output_dropout,
        )


@dataclass(frozen=True, eq=False)
class EncoderOutput:
    """Output of a forward pass.

    Attributes:
        hidden: the last block's output (normed if pre-norm).
        states: the embedding, then the output of each block: depth + 1 of them.
        patterns: one per block.
        logits: of each token's classes; None without a head.
    """

    hidden: Float[Tensor, "batch token dim"]
    states: tuple[Float[Tensor, "batch token dim"], ...]
    patterns: tuple[Pattern, ...]
    logits: Float[Tensor, "batch token class"] | None = None

    @property
    def result(self) -> tuple[str, Tensor]:
        """The main output and its name."""
        if self.logits is None:
            return "hidden states", self.hidden
        return "logits", self.logits


class Encoder(nn.Module):
    """Token ids in, one vector per token out, and every head's pattern."""

    def __init__(self, config: EncoderConfig = EncoderConfig()) -> None:
        super().__init__()
        self.config = config
        with seeded(config.seed):
            self.tokens = nn.Embedding(config.vocab, config.dim, padding_idx=config.padding)
            self.positions = positions_of(config.positions, config.max_tokens, config.dim)
            self.relation = relation_of(config.positions, config.heads, config.width)
            self.segments = nn.Embedding(config.segments, config.dim) if config.segments else None
            norm = norm_of(config.norm_kind, config.dim, config.eps)
            self.embed_norm = norm if config.embed_norm else nn.Identity()
            self.dropout = nn.Dropout(config.dropout)
            self.blocks = nn.ModuleList(_block(config, layer) for layer in range(config.depth))
            last = norm_of(config.norm_kind, config.dim, config.eps)
            self.norm = last if config.ends_on_norm else nn.Identity()
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
    ) -> EncoderOutput:
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
        told = tells_positions(self.positions, self.relation)
        most = self.config.max_tokens
        order = positions_for(edits, ids.shape[1], most=most, told=told, padding=padding)
        x = edited_state(self.embed(ids, segments, order), edits, Where(0), padding)
        mask = Mask(padding=padding, fill=self.config.mask_fill)
        relation = relation_at(self.relation, ids.shape[1], order)
        states, patterns = [x], []
        for site, block in zip(self.sites, each(self.blocks, progress), strict=True):
            x, pattern = block(x, mask=mask, relation=relation, edit=at(edits, site))
            x = edited_state(x, edits, Where(len(states)), padding)
            states.append(x)
            patterns.append(pattern)
        hidden = self.norm(x)
        logits = None if self.head is None else self.head(hidden)
        return EncoderOutput(hidden, tuple(states), tuple(patterns), logits)

    def embed(
        self,
        ids: Int[Tensor, "batch token"],
        segments: Int[Tensor, "batch token"] | None = None,
        order: Order = None,
    ) -> Float[Tensor, "batch token dim"]:
        """Input of the first block; an order gives tokens other positions."""
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
        x = with_positions(self.positions, x, order)
        if config.embed_norm_last:
            return self.embed_norm(self.dropout(x))
        return self.dropout(self.embed_norm(x))


def _block(config: EncoderConfig, layer: int) -> nn.Module:
    return BLOCKS[config.norm](
        config.attention,
        config.mlp,
        activation=config.activation,
        dropout=config.dropout,
        drop_path=drop_path_of(config.drop_path, layer, config.depth),
        eps=config.eps,
        norm_kind=config.norm_kind,
    )
