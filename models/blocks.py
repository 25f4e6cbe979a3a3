"""Transformer blocks: attention and a feed-forward network, each with norm and residual.

Post-norm (Vaswani et al. 2017): x ← norm(x + f(x)).
Pre-norm (Xiong et al. 2020): x ← x + f(norm(x)).

`StackConfig` holds the fields of every network that is a stack of them, `TextConfig` those of one
that reads tokens; `run_blocks` runs a stack, and `StackOutput` is what a network returns.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from math import sqrt
from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
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
from models.attention.relative import Relation, check_rotary
from models.checks import check_fields
from models.edits import at, edited_mlp, edited_state
from models.positional import POSITIONS, Learned, positions_of
from models.progress import Progress, each, no_progress
from models.where import Where

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": F.relu,
    "gelu": F.gelu,
    "gelu_tanh": partial(F.gelu, approximate="tanh"),
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
    """A norm over the features of each token, of one of `NORMS`."""
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
        check_fields(self, activation=ACTIVATIONS, norm=BLOCKS, norm_kind=NORMS)
        _ = self.attention  # which says what is wrong with it

    @property
    def attention(self) -> MultiHeadAttentionConfig:
        """Of every attention layer; cross-attention has no shortcut of values, which are another
        sequence's.
        """
        return attention_of(self)

    def norm_if(self, wanted: bool) -> nn.Module:
        """One more norm of the network, or nothing in its place."""
        return norm_of(self.norm_kind, self.attention.dim, self.eps) if wanted else nn.Identity()


@dataclass(frozen=True, kw_only=True)
class TextConfig(StackConfig):
    """Fields of the config of every network of tokens, with those of `StackConfig`.

    Attributes:
        dim: width of the model.
        positions: one of `positional.POSITIONS`; the learned bias of "relative" is one table for
            all layers, as in T5. Those that reach into attention do so where tokens attend to
            their own sequence.
        max_tokens: the longest input.
        last_norm: whether a stack ends on one more norm; None means with pre-norm only.
        mask_fill: the score of a hidden key, see `Mask.fill`.
    """

    dim: int = 64
    positions: str = "sinusoidal"
    max_tokens: int = 512
    last_norm: bool | None = None
    mask_fill: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_fields(self, positions=POSITIONS)
        check_rotary(self.positions, self.attention.width, self.attention.key_width)
        Mask(fill=self.mask_fill)  # which says what is wrong with it

    @property
    def ends_on_norm(self) -> bool:
        """Whether a stack ends with a norm."""
        return self.norm == "pre" if self.last_norm is None else self.last_norm


class Embedding(nn.Module):
    """Token vectors, times √dim if wanted; positions; dropout; a norm if wanted.

    Vectors are drawn with a deviation of 1/√dim: times √dim they are as large as the positions,
    and as an output projection they give logits of size 1 (Vaswani et al. 2017, section 3.4).
    Learned positions are drawn as large as the vectors that they are added to.
    """

    def __init__(
        self,
        config: TextConfig,
        vocab: int,
        *,
        scale: bool,
        padding: int | None = None,
        norm: bool = False,
    ) -> None:
        """Draws the vectors.

        Args:
            config: of the network.
            vocab: how many token ids.
            scale: whether the vectors are multiplied by √dim.
            padding: the token id whose vector stays zero; None if there is none.
            norm: whether a norm follows the dropout.
        """
        super().__init__()
        dim, self.max_tokens = config.dim, config.max_tokens
        self.factor = sqrt(dim) if scale else 1.0
        self.tokens = nn.Embedding(vocab, dim, padding_idx=padding)
        self.positions = positions_of(config.positions, config.max_tokens, dim)
        self.dropout = nn.Dropout(config.dropout)
        self.norm = config.norm_if(norm)
        nn.init.normal_(self.tokens.weight, std=dim**-0.5)
        if isinstance(self.positions, Learned):
            nn.init.normal_(self.positions.table, std=self.factor * dim**-0.5)
        if padding is not None:
            nn.init.zeros_(self.tokens.weight[padding])

    def forward(self, ids: Int[Tensor, "batch token"]) -> Float[Tensor, "batch token dim"]:
        """The vectors.

        Raises:
            ValueError: for more tokens than there is room for.
        """
        if ids.shape[1] > self.max_tokens:
            raise ValueError(f"expected at most {self.max_tokens} tokens, received {ids.shape[1]}")
        x = self.tokens(ids)
        x = x if self.factor == 1 else x * self.factor
        return self.norm(self.dropout(self.positions(x)))


@dataclass(frozen=True, eq=False)
class Context:
    """What a block with cross-attention reads of another sequence.

    Attributes:
        states: of its tokens.
        mask: from the block's own tokens to them.
        edit: of the cross-attention.
    """

    states: Float[Tensor, "batch key dim"]
    mask: Mask = Mask()
    edit: Sequence[Edit] = ()

    def read_by(self, cross: MultiHeadAttention, x: Tensor) -> tuple[Tensor, Pattern]:
        """What an attention layer reads of it for each token of a block."""
        return cross(x, self.states, mask=self.mask, edit=self.edit)


class PostNormBlock(nn.Module):
    """Attention, Add & Norm, feed-forward, Add & Norm; cross-attention between the two."""

    def __init__(
        self, config: StackConfig, layer: int = 0, *, crosses: bool = False, gated: bool = False
    ) -> None:
        super().__init__()
        attention = config.attention
        more = {"dropout": config.dropout, "eps": config.eps, "norm_kind": config.norm_kind}
        add_norm = partial(AddNorm, attention.dim, **more)
        self.drop_path = DropPath(drop_path_of(config.drop_path, layer, config.depth))
        self.attention = MultiHeadAttention(attention)
        self.after_attention = add_norm()
        if crosses:
            self.cross = MultiHeadAttention(replace(attention, value_shortcut=False))
            self.after_cross = add_norm()
        self.feed_forward = feed_forward_of(config, gated)
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
        self, config: StackConfig, layer: int = 0, *, crosses: bool = False, gated: bool = False
    ) -> None:
        super().__init__()
        attention = config.attention
        self.drop_path = DropPath(drop_path_of(config.drop_path, layer, config.depth))
        self.before_attention = config.norm_if(True)
        self.attention = MultiHeadAttention(attention)
        if crosses:
            self.before_cross = config.norm_if(True)
            self.cross = MultiHeadAttention(replace(attention, value_shortcut=False))
        self.before_feed_forward = config.norm_if(True)
        self.feed_forward = feed_forward_of(config, gated)
        self.dropout = nn.Dropout(config.dropout)

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


def blocks_of(config: StackConfig, **more: bool) -> nn.ModuleList:
    """The blocks of a network; `more` is for all of them."""
    return nn.ModuleList(BLOCKS[config.norm](config, n, **more) for n in range(config.depth))


def feed_forward_of(config: StackConfig, gated: bool) -> FeedForward:
    """The feed-forward network of a block."""
    more = {"activation": config.activation, "dropout": config.dropout, "gated": gated}
    return FeedForward(config.attention.dim, config.mlp, **more)


@dataclass(frozen=True, eq=False)
class StackOutput:
    """Output of a forward pass; with a past, for the new tokens only.

    Attributes:
        hidden: the last block's output, after the norm behind it where there is one.
        states: what enters the first block, then the output of each: depth + 1 of them.
        blocks: the patterns of each block: one, or causal and cross.
        logits: of each token, or of an image; None without an output layer.
        encoder: what the encoder left behind, of an encoder–decoder.
        named: what `logits` are called.
        sites: the attention layers, where the mask tells their kind; () means the network's.
    """

    hidden: Float[Tensor, "batch token dim"]
    states: tuple[Float[Tensor, "batch token _"], ...]
    blocks: tuple[tuple[Pattern, ...], ...]
    logits: Float[Tensor, "batch *each class"] | None = None
    encoder: "StackOutput | None" = None
    named: str = "logits"
    sites: tuple[Where, ...] = ()

    @property
    def patterns(self) -> tuple[Pattern, ...]:
        """The encoder's, then each block's."""
        before = () if self.encoder is None else self.encoder.patterns
        return (*before, *chain(*self.blocks))

    @property
    def result(self) -> tuple[str, Tensor]:
        """The main output and its name."""
        return ("hidden states", self.hidden) if self.logits is None else (self.named, self.logits)


def run_blocks(
    blocks: nn.ModuleList,
    x: Float[Tensor, "batch token _"],
    sites: Sequence[Where],
    given: Callable[[int], dict[str, Any]] = lambda layer: {},
    *,
    edits: Sequence[Edit] = (),
    padding: Bool[Tensor, "batch key"] | None = None,
    progress: Progress = no_progress,
    **shared: Any,
) -> tuple[tuple[Float[Tensor, "batch token _"], ...], tuple[tuple[Pattern, ...], ...]]:
    """Runs a stack, with edits of the states between its blocks.

    Args:
        blocks: of the stack.
        x: input of the first.
        sites: their attention layers, one each.
        given: arguments of each block, by its number.
        edits: interventions, in order.
        padding: True at tokens, those of the past included, that only fill the batch up.
        progress: called before each block and after the last.
        shared: arguments of all blocks.

    Returns:
        The states, depth + 1 of them, and the patterns of each block.
    """
    start = Where(0, tower=sites[0].tower)
    states, patterns = [edited_state(x, edits, start, padding)], []
    for layer, block in enumerate(each(blocks, progress)):
        x, block_patterns = block(
            states[-1], edit=at(edits, sites[layer]), **shared, **given(layer)
        )
        states.append(edited_state(x, edits, replace(start, layer=layer + 1), padding))
        patterns.append(block_patterns)
    return tuple(states), tuple(patterns)
