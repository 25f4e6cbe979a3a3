"""Minimal self-attention for step-by-step computation: one head, a few words.

    nothing to learn      softmax(x xᵀ) x
    three matrices        softmax(q kᵀ / √width) v  with  q = W_q x, k = W_k x, v = W_v x
    smallest transformer  linear(norm(x + attention(x))): a number for every word

And `head_by_head`: many heads are nothing but one head, many times.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from models.attention import (
    Dot,
    Edit,
    Mask,
    MultiHeadAttention,
    MultiHeadAttentionConfig,
    Pattern,
    attend,
)
from models.checks import check_least
from models.edits import at, check
from models.seeding import seeded
from models.where import Where


def one_head(
    q: Float[Tensor, "batch query dim"],
    k: Float[Tensor, "batch key dim"],
    v: Float[Tensor, "batch key value_dim"],
    *,
    scale: float | None = None,
) -> tuple[Float[Tensor, "batch query value_dim"], Pattern]:
    """`attend` without an axis for heads; a scale of None means 1/√dim."""
    values, pattern = attend(q[:, None], k[:, None], v[:, None], score=Dot(scale=scale))
    return values[:, 0], pattern


def unlearned(
    x: Float[Tensor, "batch word dim"],
) -> tuple[Float[Tensor, "batch word dim"], Pattern]:
    """Every word as a mixture of all words, by how alike they are; nothing to learn."""
    return one_head(x, x, x, scale=1.0)


class Matrices(NamedTuple):
    """Projection matrices of queries, keys and values: W x for a word x."""

    query: Float[Tensor, "dim input_dim"]
    key: Float[Tensor, "dim input_dim"]
    value: Float[Tensor, "value_dim input_dim"]


def word_by_word(
    x: Float[Tensor, "batch word input_dim"], matrices: Matrices
) -> tuple[Float[Tensor, "batch word value_dim"], Pattern]:
    """q, k and v of every word, and attention from word to word, over √dim."""
    q, k, v = (x @ matrix.T for matrix in matrices)
    return one_head(q, k, v)


def feature_by_feature(
    x: Float[Tensor, "batch input_dim word"], matrices: Matrices
) -> tuple[Float[Tensor, "batch dim word"], Pattern]:
    """The same symbols with words as columns: QKᵀ then compares features, not words.

    With words as columns, W x has words as columns too, and each of its rows is one feature over
    all words: that is what attends here. Scores are divided by the root of the input's width.
    """
    q, k, v = (matrix @ x for matrix in matrices)
    return one_head(q, k, v, scale=1 / sqrt(x.shape[1]))


def head_by_head(
    layer: MultiHeadAttention, x: Float[Tensor, "batch token input_dim"]
) -> tuple[Float[Tensor, "batch token dim"], tuple[Pattern, ...]]:
    """The layer's output in eval mode, computed head by head, each with its own pattern."""
    config, values, patterns = layer.config, [], []
    for head in range(config.heads):
        q = config.factor * _share(layer.query, head, config.width, x)
        k = config.factor * _share(layer.key, head, config.width, x)
        v = _share(layer.value, head, config.value_width, x)
        out, pattern = one_head(q, k, v, scale=config.score.scale)
        values.append(out)
        patterns.append(pattern)
    out = layer.out(torch.cat(values, dim=-1))
    if config.value_shortcut:
        out = out + layer.value(x)
    return out, tuple(patterns)


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
        check_least(self, {"dim": 1, "vocab": 1, "max_tokens": 1})

    @property
    def depth(self) -> int:
        """Number of attention layers."""
        return 1

    @property
    def heads(self) -> int:
        """Attention heads in it."""
        return 1


@dataclass(frozen=True, eq=False)
class SmallestOutput:
    """Output of a forward pass.

    Attributes:
        predictions: one number per word.
        hidden: what they are read from.
        states: the words, then `hidden`.
        patterns: one.
    """

    predictions: Float[Tensor, "batch word 1"]
    hidden: Float[Tensor, "batch word dim"]
    states: tuple[Float[Tensor, "batch word dim"], ...]
    patterns: tuple[Pattern, ...]

    @property
    def result(self) -> tuple[str, Tensor]:
        """The main output and its name."""
        return "predictions", self.predictions


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
    ) -> SmallestOutput:
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
        return SmallestOutput(self.out(hidden), hidden, (x, hidden), (pattern,))


def columns_and_matrices() -> tuple[Float[Tensor, "1 3 2"], Matrices]:
    """Two words as columns, and matrices from width 3 to 2 (seeds 10, 0, 1 and 2)."""
    query, key = _drawn(0, torch.randn, 2, 3), _drawn(1, torch.rand, 2, 3)
    value = _drawn(2, torch.rand, 2, 3)
    return _drawn(10, torch.rand, 3, 2)[None], Matrices(query, key, value)


class Example(NamedTuple):
    """Two words, an attention and a transformer for them."""

    words: Float[Tensor, "1 word dim"]
    attention: MultiHeadAttention
    transformer: Smallest


def worked_example() -> Example:
    """Two words and untrained weights that a course has printed: seed 2.

    In the order they were drawn: the value matrix of `columns_and_matrices`, the words, then the
    weights of the attention and of the transformer, keys before queries.
    """
    with seeded(0):
        attention = MultiHeadAttention(unscaled(3))
    transformer = Smallest(SmallestConfig(dim=3))
    with seeded(2):
        torch.rand(1, 2, 3)
        words = torch.rand(1, 2, 3)
        for layer in (attention, transformer.attention):
            for linear in (layer.key, layer.query, layer.value):
                linear.reset_parameters()
        transformer.out.reset_parameters()
    return Example(words, attention.eval(), transformer.eval())


def _drawn(seed: int, draw: Callable[..., Tensor], *shape: int) -> Tensor:
    with seeded(seed):
        return draw(*shape, device="cpu")


def _share(linear: nn.Linear, head: int, width: int, x: Tensor) -> Tensor:
    """x through the part of a projection that belongs to one head."""
    rows = slice(head * width, (head + 1) * width)
    return F.linear(x, linear.weight[rows], None if linear.bias is None else linear.bias[rows])
