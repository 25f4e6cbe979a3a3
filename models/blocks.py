"""Transformer blocks: attention and a feed-forward network, each with norm and residual.

Post-norm (Vaswani et al. 2017): x ← norm(x + f(x)).
Pre-norm (Xiong et al. 2020): x ← x + f(norm(x)).

`StackConfig` holds the fields of every network that is a stack of them.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from models.attention import (
    AttentionFields,
    Edit,
    Mask,
    MultiHeadAttention,
    MultiHeadAttentionConfig,
    Pattern,
    attention_of,
)
from models.attention.relative import Relation
from models.checks import check_choices, check_least, check_positive, check_shares
from models.edits import edited_mlp


def _gelu_tanh(x: Tensor) -> Tensor:
    return F.gelu(x, approximate="tanh")


ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": F.relu,
    "gelu": F.gelu,
    "gelu_tanh": _gelu_tanh,
    "tanh": torch.tanh,
    "sigmoid": torch.sigmoid,
    "silu": F.silu,
    "softplus": F.softplus,
    "leaky_relu": F.leaky_relu,
}


class FeedForward(nn.Module):
    """The same two-layer network for every token: dim → hidden → dim.

    With a gate it is down(activation(gate(x)) · up(x)), without biases.

    Source: Shazeer 2020, "GLU Variants Improve Transformer".
    """

    def __init__(
        self,
        dim: int,
        hidden: int,
        *,
        activation: str = "relu",
        dropout: float = 0.0,
        gated: bool = False,
    ) -> None:
        super().__init__()
        if activation not in ACTIVATIONS:
            raise ValueError(
                f"activation: expected one of {', '.join(ACTIVATIONS)}, received {activation!r}"
            )
        self.gate = nn.Linear(dim, hidden, bias=False) if gated else None
        self.up = nn.Linear(dim, hidden, bias=not gated)
        self.down = nn.Linear(hidden, dim, bias=not gated)
        self.dropout = nn.Dropout(dropout)
        self.activation = ACTIVATIONS[activation]

    def forward(self, x: Float[Tensor, "batch token dim"]) -> Float[Tensor, "batch token dim"]:
        if self.gate is None:
            return self.down(self.dropout(self.activation(self.up(x))))
        return self.down(self.dropout(self.activation(self.gate(x)) * self.up(x)))


class AddNorm(nn.Module):
    """Norm of the sum of what went into a sub-layer and what came out of it."""

    def __init__(
        self, dim: int, *, dropout: float = 0.0, eps: float = 1e-5, norm_kind: str = "layer"
    ) -> None:
        super().__init__()
        self.norm = norm_of(norm_kind, dim, eps)
        self.dropout = nn.Dropout(dropout)

    def forward(
        self, x: Float[Tensor, "batch token dim"], y: Float[Tensor, "batch token dim"]
    ) -> Float[Tensor, "batch token dim"]:
        return self.norm(x + self.dropout(y))


def share_or(scale: float | None, common: float) -> float:
    """A dropout probability of its own, or the common one where that is None."""
    return common if scale is None else scale


def drop_path_of(last: float, layer: int, depth: int) -> float:
    """Probability that an item skips a layer: linear in depth, from 0 at the first to `last`.

    Source: Huang et al. 2016, eq. 4, from the second block on.
    """
    return last * layer / max(1, depth - 1)


class DropPath(nn.Module):
    """Stochastic depth: while training, an item skips the whole branch with this probability.

    What is kept is scaled up, so that the expected sum stays the same.

    Source: Huang et al. 2016, section 3; per item and scaled as in timm.
    """

    def __init__(self, probability: float) -> None:
        super().__init__()
        if not 0 <= probability < 1:
            raise ValueError(f"drop_path: expected 0 up to 1, received {probability}")
        self.probability = probability

    def forward(self, x: Float[Tensor, "batch token dim"]) -> Float[Tensor, "batch token dim"]:
        if not self.training or not self.probability:
            return x
        kept = 1 - self.probability
        return x * (torch.rand(len(x), 1, 1, device=x.device) < kept).to(x.dtype) / kept


NORMS: dict[str, Callable[..., nn.LayerNorm | nn.RMSNorm]] = {
    "layer": nn.LayerNorm,  # Ba et al. 2016
    "rms": nn.RMSNorm,  # Zhang and Sennrich 2019: no mean, no offset
}


def norm_of(kind: str, dim: int, eps: float = 1e-5) -> nn.LayerNorm | nn.RMSNorm:
    """A norm over the features of each token.

    Raises:
        ValueError: for a kind that is not in `NORMS`.
    """
    if kind not in NORMS:
        raise ValueError(f"norm_kind: expected one of {', '.join(NORMS)}, received {kind!r}")
    return NORMS[kind](dim, eps=eps)


def standardised(
    x: Float[Tensor, "*token dim"], *, eps: float = 1e-5
) -> Float[Tensor, "*token dim"]:
    """Every token with mean 0 and deviation 1 over its features.

    The variance is the biased one: a sum divided by the number of features, not by one less.
    """
    centred = x - x.mean(-1, keepdim=True)
    variance = centred.square().mean(-1, keepdim=True)
    return centred / (variance + eps).sqrt()


def cross_of(attention: MultiHeadAttentionConfig) -> MultiHeadAttentionConfig:
    """The cross-attention beside a causal one: without a shortcut of values, which are another
    sequence's.
    """
    return replace(attention, value_shortcut=False)


@dataclass(frozen=True, eq=False)
class Context:
    """What a block with cross-attention reads of another sequence.

    Attributes:
        states: of its tokens.
        mask: from the block's own tokens to them.
        past: pattern of the cross-attention in an earlier pass.
        edit: of the cross-attention.
    """

    states: Float[Tensor, "batch key dim"]
    mask: Mask = Mask()
    past: Pattern | None = None
    edit: Sequence[Edit] = ()

    def read_by(self, cross: MultiHeadAttention, x: Tensor) -> tuple[Tensor, Pattern]:
        """What an attention layer reads of it for each token of a block."""
        return cross(x, self.states, mask=self.mask, past=self.past, edit=self.edit)


class PostNormBlock(nn.Module):
    """Attention, Add & Norm, feed-forward, Add & Norm; cross-attention between the two."""

    def __init__(
        self,
        attention: MultiHeadAttentionConfig,
        mlp: int,
        *,
        crosses: bool = False,
        activation: str = "relu",
        dropout: float = 0.0,
        drop_path: float = 0.0,
        eps: float = 1e-5,
        norm_kind: str = "layer",
        gated: bool = False,
    ) -> None:
        super().__init__()
        dim = attention.dim
        add_norm = partial(AddNorm, dim, dropout=dropout, eps=eps, norm_kind=norm_kind)
        self.drop_path = DropPath(drop_path)
        self.attention = MultiHeadAttention(attention)
        self.after_attention = add_norm()
        if crosses:
            self.cross = MultiHeadAttention(cross_of(attention))
            self.after_cross = add_norm()
        self.feed_forward = FeedForward(
            dim, mlp, activation=activation, dropout=dropout, gated=gated
        )
        self.after_feed_forward = add_norm()

    def forward(
        self,
        x: Float[Tensor, "batch token dim"],
        context: Context | None = None,
        *,
        mask: Mask = Mask(),
        relation: Relation = Relation(),
        past: Pattern | None = None,
        edit: Sequence[Edit] = (),
    ) -> tuple[Float[Tensor, "batch token dim"], tuple[Pattern, ...]]:
        attended, pattern = self.attention(
            x, mask=mask, bias=relation.bias, angles=relation.angles, past=past, edit=edit
        )
        patterns = [pattern]
        x = self.after_attention(x, self.drop_path(attended))
        if context is not None:
            looked, pattern = context.read_by(self.cross, x)
            x = self.after_cross(x, self.drop_path(looked))
            patterns.append(pattern)
        fed = edited_mlp(self.feed_forward(x), edit, mask.padding)
        return self.after_feed_forward(x, self.drop_path(fed)), tuple(patterns)


class PreNormBlock(nn.Module):
    """Norm, attention, add; norm, feed-forward, add; norm, cross-attention, add between them."""

    def __init__(
        self,
        attention: MultiHeadAttentionConfig,
        mlp: int,
        *,
        crosses: bool = False,
        activation: str = "relu",
        dropout: float = 0.0,
        drop_path: float = 0.0,
        eps: float = 1e-5,
        norm_kind: str = "layer",
        gated: bool = False,
    ) -> None:
        super().__init__()
        dim = attention.dim
        self.drop_path = DropPath(drop_path)
        self.before_attention = norm_of(norm_kind, dim, eps)
        self.attention = MultiHeadAttention(attention)
        if crosses:
            self.before_cross = norm_of(norm_kind, dim, eps)
            self.cross = MultiHeadAttention(cross_of(attention))
        self.before_feed_forward = norm_of(norm_kind, dim, eps)
        self.feed_forward = FeedForward(
            dim, mlp, activation=activation, dropout=dropout, gated=gated
        )
        self.dropout = nn.Dropout(dropout)

    def forward(
        self,
        x: Float[Tensor, "batch token dim"],
        context: Context | None = None,
        *,
        mask: Mask = Mask(),
        relation: Relation = Relation(),
        past: Pattern | None = None,
        edit: Sequence[Edit] = (),
    ) -> tuple[Float[Tensor, "batch token dim"], tuple[Pattern, ...]]:
        normed = self.before_attention(x)
        attended, pattern = self.attention(
            normed, mask=mask, bias=relation.bias, angles=relation.angles, past=past, edit=edit
        )
        patterns = [pattern]
        x = x + self.drop_path(self.dropout(attended))
        if context is not None:
            looked, pattern = context.read_by(self.cross, self.before_cross(x))
            x = x + self.drop_path(self.dropout(looked))
            patterns.append(pattern)
        fed = edited_mlp(self.feed_forward(self.before_feed_forward(x)), edit, mask.padding)
        return x + self.drop_path(self.dropout(fed)), tuple(patterns)


BLOCKS = {"post": PostNormBlock, "pre": PreNormBlock}


@dataclass(frozen=True, eq=False)
class StackOutput:
    """Output of a forward pass of a stack.

    Attributes:
        hidden: the last block's output, after the norm behind it where there is one.
        states: what enters the first block, then the output of each: depth + 1 of them.
        patterns: one per block.
        logits: of each token's classes, or those of an image; None without a head.
    """

    hidden: Float[Tensor, "batch token dim"]
    states: tuple[Float[Tensor, "batch token _"], ...]
    patterns: tuple[Pattern, ...]
    logits: Float[Tensor, "batch *each class"] | None = None

    @property
    def result(self) -> tuple[str, Tensor]:
        """The main output and its name."""
        if self.logits is None:
            return "hidden states", self.hidden
        return "logits", self.logits


@dataclass(frozen=True, kw_only=True)
class StackConfig(AttentionFields):
    """Fields of the config of every stack of blocks, with those of their attention.

    Attributes:
        depth: number of blocks; of an encoder–decoder, in each of its two stacks.
        mlp: hidden width of the feed-forward network.
        activation: of the feed-forward network, one of `ACTIVATIONS`.
        norm: "post" or "pre".
        norm_kind: one of `NORMS`.
        eps: of every norm.
        value_shortcut: whether self-attention adds its values to its output, bypassing the output
            projection.
        dropout: while training: of embeddings, attention weights, hidden units and residual
            branches.
        attention_dropout: of attention weights; None means `dropout`.
        drop_path: probability that an item skips the last block while training; it falls linearly
            to 0 at the first block.
        seed: of the random weights.
    """

    depth: int = 2
    mlp: int = 256
    activation: str = "gelu"
    norm: str = "pre"
    norm_kind: str = "layer"
    eps: float = 1e-5
    value_shortcut: bool = False
    dropout: float = 0.1
    attention_dropout: float | None = None
    drop_path: float = 0.0
    seed: int = 0

    def __post_init__(self) -> None:
        check_least(self, {"depth": 1, "mlp": 1})
        choices = {"activation": ACTIVATIONS, "norm": BLOCKS, "norm_kind": NORMS}
        check_choices(self, {name: tuple(known) for name, known in choices.items()})
        check_shares(self, ("dropout", "attention_dropout", "drop_path"))
        check_positive(self, ("eps",))
        _ = self.attention  # which says what is wrong with it

    @property
    def attention(self) -> MultiHeadAttentionConfig:
        """Of every attention layer; a decoder's cross-attention has `cross_of` it."""
        return attention_of(self)


def blocks_of(config: StackConfig, **more: Any) -> nn.ModuleList:
    """The blocks of a network; `more` is for all of them."""
    return nn.ModuleList(
        BLOCKS[config.norm](
            config.attention,
            config.mlp,
            activation=config.activation,
            dropout=config.dropout,
            drop_path=drop_path_of(config.drop_path, layer, config.depth),
            eps=config.eps,
            norm_kind=config.norm_kind,
            **more,
        )
        for layer in range(config.depth)
    )
