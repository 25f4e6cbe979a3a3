"""Blocks: attention and a feed-forward network, each with a norm and a way round it.

Post-norm (Vaswani et al. 2017): x ← norm(x + f(x)).
Pre-norm (Xiong et al. 2020): x ← x + f(norm(x)).

The layers a block is made of are in models/layers.py and can be had from here too.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from jaxtyping import Float
from torch import Tensor, nn

from models.attention import Edit, Mask, MultiHeadAttention, MultiHeadAttentionConfig, Pattern
from models.layers import ACTIVATIONS, AddNorm, DropPath, FeedForward
from models.relative import Relation

__all__ = [
    "ACTIVATIONS",
    "BLOCKS",
    "DECODER_BLOCKS",
    "AddNorm",
    "Both",
    "DropPath",
    "FeedForward",
    "PostNormBlock",
    "PostNormDecoderBlock",
    "PreNormBlock",
    "PreNormDecoderBlock",
]


class PostNormBlock(nn.Module):
    """Attention, Add & Norm, feed-forward, Add & Norm."""

    def __init__(
        self,
        attention: MultiHeadAttentionConfig,
        mlp: int,
        *,
        activation: str = "relu",
        dropout: float = 0.0,
        drop_path: float = 0.0,
        eps: float = 1e-5,
    ) -> None:
        super().__init__()
        dim = attention.dim
        self.drop_path = DropPath(drop_path)
        self.attention = MultiHeadAttention(attention)
        self.after_attention = AddNorm(dim, dropout=dropout, eps=eps)
        self.feed_forward = FeedForward(dim, mlp, activation=activation, dropout=dropout)
        self.after_feed_forward = AddNorm(dim, dropout=dropout, eps=eps)

    def forward(
        self,
        x: Float[Tensor, "batch token dim"],
        *,
        mask: Mask = Mask(),
        relation: Relation = Relation(),
        past: Pattern | None = None,
        edit: Sequence[Edit] = (),
    ) -> tuple[Float[Tensor, "batch token dim"], Pattern]:
        attended, pattern = self.attention(
            x, mask=mask, bias=relation.bias, angles=relation.angles, past=past, edit=edit
        )
        x = self.after_attention(x, self.drop_path(attended))
        return self.after_feed_forward(x, self.drop_path(self.feed_forward(x))), pattern


class PreNormBlock(nn.Module):
    """Norm, attention, add; norm, feed-forward, add."""

    def __init__(
        self,
        attention: MultiHeadAttentionConfig,
        mlp: int,
        *,
        activation: str = "relu",
        dropout: float = 0.0,
        drop_path: float = 0.0,
        eps: float = 1e-5,
    ) -> None:
        super().__init__()
        dim = attention.dim
        self.drop_path = DropPath(drop_path)
        self.before_attention = nn.LayerNorm(dim, eps=eps)
        self.attention = MultiHeadAttention(attention)
        self.before_feed_forward = nn.LayerNorm(dim, eps=eps)
        self.feed_forward = FeedForward(dim, mlp, activation=activation, dropout=dropout)
        self.dropout = nn.Dropout(dropout)

    def forward(
        self,
        x: Float[Tensor, "batch token dim"],
        *,
        mask: Mask = Mask(),
        relation: Relation = Relation(),
        past: Pattern | None = None,
        edit: Sequence[Edit] = (),
    ) -> tuple[Float[Tensor, "batch token dim"], Pattern]:
        attended, pattern = self.attention(
            self.before_attention(x),
            mask=mask,
            bias=relation.bias,
            angles=relation.angles,
            past=past,
            edit=edit,
        )
        x = x + self.drop_path(self.dropout(attended))
        fed = self.feed_forward(self.before_feed_forward(x))
        return x + self.drop_path(self.dropout(fed)), pattern


Each = TypeVar("Each")


@dataclass(frozen=True, eq=False)
class Both(Generic[Each]):
    """One thing for each of a decoder block's two attentions.

    Attributes:
        causal: for the target's attention to itself.
        cross: for its attention to the source.
    """

    causal: Each
    cross: Each


class PostNormDecoderBlock(nn.Module):
    """Masked self-attention, attention to the source, feed-forward; Add & Norm after each."""

    def __init__(
        self,
        attention: MultiHeadAttentionConfig,
        mlp: int,
        *,
        activation: str = "relu",
        dropout: float = 0.0,
        eps: float = 1e-5,
    ) -> None:
        super().__init__()
        dim = attention.dim
        self.attention = MultiHeadAttention(attention)
        self.after_attention = AddNorm(dim, dropout=dropout, eps=eps)
        self.cross = MultiHeadAttention(attention)
        self.after_cross = AddNorm(dim, dropout=dropout, eps=eps)
        self.feed_forward = FeedForward(dim, mlp, activation=activation, dropout=dropout)
        self.after_feed_forward = AddNorm(dim, dropout=dropout, eps=eps)

    def forward(
        self,
        x: Float[Tensor, "batch token dim"],
        context: Float[Tensor, "batch key dim"],
        *,
        mask: Both[Mask] = Both(Mask(causal=True), Mask()),
        relation: Relation = Relation(),
        past: Both[Pattern | None] = Both(None, None),
        edit: Both[Sequence[Edit]] = Both((), ()),
    ) -> tuple[Float[Tensor, "batch token dim"], Both[Pattern]]:
        attended, causal = self.attention(
            x,
            mask=mask.causal,
            bias=relation.bias,
            angles=relation.angles,
            past=past.causal,
            edit=edit.causal,
        )
        x = self.after_attention(x, attended)
        looked, cross = self.cross(x, context, mask=mask.cross, past=past.cross, edit=edit.cross)
        x = self.after_cross(x, looked)
        return self.after_feed_forward(x, self.feed_forward(x)), Both(causal, cross)


class PreNormDecoderBlock(nn.Module):
    """Masked self-attention, attention to the source, feed-forward; a norm before each."""

    def __init__(
        self,
        attention: MultiHeadAttentionConfig,
        mlp: int,
        *,
        activation: str = "relu",
        dropout: float = 0.0,
        eps: float = 1e-5,
    ) -> None:
        super().__init__()
        dim = attention.dim
        self.before_attention = nn.LayerNorm(dim, eps=eps)
        self.attention = MultiHeadAttention(attention)
        self.before_cross = nn.LayerNorm(dim, eps=eps)
        self.cross = MultiHeadAttention(attention)
        self.before_feed_forward = nn.LayerNorm(dim, eps=eps)
        self.feed_forward = FeedForward(dim, mlp, activation=activation, dropout=dropout)
        self.dropout = nn.Dropout(dropout)

    def forward(
        self,
        x: Float[Tensor, "batch token dim"],
        context: Float[Tensor, "batch key dim"],
        *,
        mask: Both[Mask] = Both(Mask(causal=True), Mask()),
        relation: Relation = Relation(),
        past: Both[Pattern | None] = Both(None, None),
        edit: Both[Sequence[Edit]] = Both((), ()),
    ) -> tuple[Float[Tensor, "batch token dim"], Both[Pattern]]:
        attended, causal = self.attention(
            self.before_attention(x),
            mask=mask.causal,
            bias=relation.bias,
            angles=relation.angles,
            past=past.causal,
            edit=edit.causal,
        )
        x = x + self.dropout(attended)
        query = self.before_cross(x)
        looked, cross = self.cross(
            query, context, mask=mask.cross, past=past.cross, edit=edit.cross
        )
        x = x + self.dropout(looked)
        fed = self.feed_forward(self.before_feed_forward(x))
        return x + self.dropout(fed), Both(causal, cross)


BLOCKS = {"post": PostNormBlock, "pre": PreNormBlock}
DECODER_BLOCKS = {"post": PostNormDecoderBlock, "pre": PreNormDecoderBlock}
