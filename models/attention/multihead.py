"""Multi-head attention: the layer that projects its own queries, keys and values.

Source: Vaswani et al. 2017, section 3.2.2, with the options that later transformers added.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from einops import rearrange
from jaxtyping import Float
from torch import Tensor, nn

from models.attention.edit_protocols import Edit
from models.attention.functional import attend
from models.attention.mask import Mask
from models.attention.pattern import Bias, Pattern
from models.attention.relative import rotate
from models.attention.scores import Additive, Bilinear, Dot, Score
from models.checks import check_fields, divisors, shared_fields

DOT_SCALINGS = ("sqrt", "none", "fourth root")
OUT_PROJECTIONS = ("always", "needed")
SCORINGS = ("dot", "bilinear", "additive")


@dataclass(frozen=True, kw_only=True)
class AttentionFields:
    """Fields shared by the config of an attention layer and those of networks made of such layers.

    Attributes:
        heads: number of heads, in each layer.
        key_dim: width of one head's keys; None means that of its queries. Another width needs
            "bilinear" scores, whose matrix leads from one to the other.
        qkv_bias: whether query, key and value projections have a bias.
        out_bias: whether the output projection has one.
        scoring: what compares a query with a key: their "dot" product; "bilinear", qᵀMk with a
            learned matrix per head; or "additive", wᵀ tanh(q + k) with a learned vector per head.
        scale: factor of the dot product; None means that `dot_scaling` decides.
        dot_scaling: "sqrt" divides the dot product by √head_dim; "fourth root" divides queries and
            keys by ∜head_dim each before the product, which is equivalent and avoids overflow in
            half precision; "none" does not scale.
        projection_dropout: dropout probability after the output projection.
        output_dropout: probability of a second dropout, just before a value shortcut is added.
    """

    heads: int = 4
    key_dim: int | None = None
    qkv_bias: bool = True
    out_bias: bool = True
    scoring: str = "dot"
    scale: float | None = None
    dot_scaling: str = "sqrt"
    projection_dropout: float = 0.0
    output_dropout: float = 0.0


@dataclass(frozen=True, kw_only=True)
class MultiHeadAttentionConfig(AttentionFields):
    """Everything that defines one attention layer, with the fields of `AttentionFields`.

    Attributes:
        dim: width of the output.
        head_dim: width of one head's queries; None means dim / heads.
        value_dim: width of one head's values; None means the width of its queries.
        kv_heads: number of heads of keys and values, each shared by several heads of queries
            (grouped queries, Ainslie et al. 2023); None means one for each.
        input_dim: width of the queries' input; None means dim.
        key_input_dim: width of the keys' input; None means that of the queries'.
        value_input_dim: width of the values' input; None means that of the keys'.
        out_projection: "always", or "needed": omitted for a single head as wide as the model.
        value_shortcut: whether the merged values are added to the output, bypassing the output
            projection (self-attention only; Yuan et al. 2021, where there is only one head).
        dropout: probability of dropping a weight in training.
    """

    dim: int = 64
    head_dim: int | None = None
    value_dim: int | None = None
    kv_heads: int | None = None
    input_dim: int | None = None
    key_input_dim: int | None = None
    value_input_dim: int | None = None
    out_projection: str = "always"
    value_shortcut: bool = False
    dropout: float = 0.0

    def __post_init__(self) -> None:
        options = {"scoring": SCORINGS, "dot_scaling": DOT_SCALINGS}
        check_fields(self, **options, out_projection=OUT_PROJECTIONS)
        if self.head_dim is None and self.dim % self.heads:
            raise ValueError(
                f"heads must divide dim: expected one of {divisors(self.dim)} for dim {self.dim},"
                f" received {self.heads}"
            )
        if self.heads % self.key_heads or (self.kv_heads and self.scoring != "dot"):
            raise ValueError(
                f"kv_heads: expected a divisor of {self.heads} heads, and dot scores, received"
                f" {self.kv_heads} and {self.scoring} scores"
            )
        scaled = [self.scale is not None, self.dot_scaling != "sqrt"]
        if all(scaled) or (any(scaled) and self.scoring != "dot"):
            raise ValueError(
                "scale, dot_scaling: expected one of them, and neither with scores that learn their"
                f" size, received {self.scale} and {self.dot_scaling!r} with {self.scoring} scores"
            )
        if self.scoring != "bilinear" and self.key_width != self.width:
            raise ValueError(
                f"key_dim: expected {self.width}, the width of the queries, with {self.scoring}"
                f" scores, received {self.key_dim}; bilinear scores compare vectors of two widths"
            )
        if self.value_shortcut and (self.merged != self.dim or self.key_heads != self.heads):
            raise ValueError(
                f"value_shortcut: expected heads × width of their values = dim, received"
                f" {self.heads} × {self.value_width} and {self.dim}"
            )

    @property
    def width(self) -> int:
        """Width of one head's queries."""
        return self.dim // self.heads if self.head_dim is None else self.head_dim

    @property
    def key_width(self) -> int:
        """Width of one head's keys."""
        return self.width if self.key_dim is None else self.key_dim

    @property
    def value_width(self) -> int:
        """Width of one head's values."""
        return self.width if self.value_dim is None else self.value_dim

    @property
    def key_heads(self) -> int:
        """Number of heads of keys and values."""
        return self.heads if self.kv_heads is None else self.kv_heads

    @property
    def merged(self) -> int:
        """Width of the values of all heads, side by side."""
        return self.heads * self.value_width

    @property
    def has_projection(self) -> bool:
        """Whether there is an output projection."""
        return self.out_projection == "always" or self.heads > 1 or self.merged != self.dim

    @property
    def factor(self) -> float:
        """Factor applied to queries and keys before the dot product."""
        return self.width**-0.25 if self.dot_scaling == "fourth root" else 1.0

    @property
    def inputs(self) -> tuple[int, int, int]:
        """Widths of the inputs of queries, keys and values."""
        query = self.dim if self.input_dim is None else self.input_dim
        key = query if self.key_input_dim is None else self.key_input_dim
        return query, key, key if self.value_input_dim is None else self.value_input_dim

    @property
    def score(self) -> Dot:
        """The scaled dot product, applied after `factor`; of a "dot" scoring only."""
        return Dot(scale=self.scale if self.dot_scaling == "sqrt" else 1.0)


def attention_of(config: Any, **derived: Any) -> MultiHeadAttentionConfig:
    """The attention layers of a network, whose config has fields of the same names.

    Args:
        config: of the network; `attention_dropout`, or its `dropout` where that is None, is the
            dropout of weights.
        derived: fields that the network derives from others.
    """
    share = config.attention_dropout
    derived["dropout"] = config.dropout if share is None else share
    return MultiHeadAttentionConfig(**shared_fields(config, MultiHeadAttentionConfig) | derived)


class LearnedScoring(nn.Module):
    """What a "bilinear" or "additive" score learns: a matrix, or a vector, per head.

    The projections of queries and keys are the hidden layer of an additive score.
    """

    def __init__(self, config: MultiHeadAttentionConfig) -> None:
        super().__init__()
        heads, width, key_width = config.heads, config.width, config.key_width
        if config.scoring == "additive":
            self.vector = nn.Parameter(nn.init.normal_(torch.empty(heads, width), std=width**-0.5))
            return
        # the product of independent queries and keys then has the variance of a scaled dot product
        drawn = torch.empty(heads, width, key_width)
        self.matrix = nn.Parameter(nn.init.normal_(drawn, std=(width * key_width) ** -0.5))

    def forward(self) -> Bilinear | Additive:
        if hasattr(self, "matrix"):
            return Bilinear(self.matrix)
        return Additive(None, None, self.vector)


class MultiHeadAttention(nn.Module):
    """Several attention heads in parallel, each on its own projection of the input.

    Source: Vaswani et al. 2017, section 3.2.2.
    """

    def __init__(self, config: MultiHeadAttentionConfig = MultiHeadAttentionConfig()) -> None:
        super().__init__()
        inside = config.heads * config.width
        query, key, value = config.inputs
        self.config = config
        self.query = nn.Linear(query, inside, bias=config.qkv_bias)
        self.key = nn.Linear(key, config.key_heads * config.key_width, bias=config.qkv_bias)
        self.value = nn.Linear(value, config.key_heads * config.value_width, bias=config.qkv_bias)
        self.out = (
            nn.Linear(config.merged, config.dim, bias=config.out_bias)
            if config.has_projection
            else nn.Identity()
        )
        self.projection_dropout = nn.Dropout(config.projection_dropout)
        self.output_dropout = nn.Dropout(config.output_dropout)
        self.scoring = None if config.scoring == "dot" else LearnedScoring(config)

    @property
    def score(self) -> Score:
        """What compares queries with keys."""
        return self.config.score if self.scoring is None else self.scoring()

    def forward(
        self,
        x: Float[Tensor, "batch query input_dim"],
        context: Float[Tensor, "batch key key_input_dim"] | None = None,
        values: Float[Tensor, "batch value value_input_dim"] | None = None,
        *,
        mask: Mask = Mask(),
        bias: Bias = None,
        angles: Float[Tensor, "query pair"] | None = None,
        past: Pattern | None = None,
        edit: Sequence[Edit] = (),
    ) -> tuple[Float[Tensor, "batch query dim"], Pattern]:
        """Attends from x to the context, or to itself if there is none.

        Args:
            x: input of the queries.
            context: input of the keys; None means x.
            values: input of the values, one for each key; None means that of the keys.
            mask: which keys each query may attend to; with a past, it covers all keys, and
                `offset` is the position of the first token of x.
            bias: added to the scores (see `Pattern.bias`).
            angles: rotation of queries and keys (see `relative.rotate`); with a past, for the
                positions of x only.
            past: this layer's pattern of an earlier pass, used as key-value cache (keys are already
                rotated and scaled): keys and values of x are appended.
            edit: interventions, in order.

        Raises:
            ValueError: for inputs of other widths than the layer's, keys without a value, and a
                context where the layer has a value shortcut or positions rotate its queries.
        """
        source = x if context is None else context
        values = source if values is None else values
        names = ("queries", "keys", "values")
        for name, given, width in zip(names, (x, source, values), self.config.inputs, strict=True):
            if given.shape[-1] != width:
                received = given.shape[-1]
                raise ValueError(f"{name}: expected vectors of width {width}, received {received}")
        if context is not None and self.config.value_shortcut:
            raise ValueError("value_shortcut is for self-attention: expected no context")
        if context is not None and angles is not None:
            raise ValueError("angles are for self-attention: expected no context")
        if context is not None:
            mask = mask.of_other_queries(x.shape[0], x.shape[1])
        q = self._prepared(self.query(x), self.config.heads, angles)
        k = self._prepared(self.key(source), self.config.key_heads, angles)
        v = _split(self.value(values), self.config.key_heads)
        if past is not None:
            k, v = torch.cat([past.k, k], dim=2), torch.cat([past.v, v], dim=2)
        dropout = self.config.dropout if self.training else 0.0
        more = {"mask": mask, "score": self.score, "bias": bias, "dropout": dropout, "edit": edit}
        attended, pattern = attend(q, k, v, **more)
        out = self.output_dropout(self.projection_dropout(self.out(_merge_heads(attended))))
        if self.config.value_shortcut:
            out = out + _merge_heads(v[:, :, -x.shape[1] :])
        return out, pattern

    def _prepared(self, x: Tensor, heads: int, angles: Tensor | None) -> Tensor:
        """Queries or keys ready for the dot product: split into heads, rotated, scaled."""
        x = _split(x, heads)
        x = x if angles is None else rotate(x, angles)
        return x if self.config.factor == 1 else x * self.config.factor


def _split(x: Tensor, heads: int) -> Tensor:
    return rearrange(x, "batch token (head dim) -> batch head token dim", head=heads)


def _merge_heads(values: Tensor) -> Tensor:
    return rearrange(values, "batch head token dim -> batch token (head dim)")
