"""Attention: the one function every network here goes through, and the layer built on it.

    attend(q, k, v) = softmax(q·k / √dim) · v          (Vaswani et al. 2017, eq. 1)

`attend` returns the values and the `Pattern`: the recipe of the weights rather than the weights.
So the values come from PyTorch's fused kernel, which never forms the weights, and any head's
weights are worked out afterwards, when somebody looks.

Shapes: batch, head, query (tokens that attend), key (tokens attended to), dim (width of a head).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from einops import rearrange
from jaxtyping import Float
from torch import Tensor, nn

from models.kernel import values_of
from models.mask import Edge, Mask
from models.pattern import Bias, Block, Pattern
from models.relative import rotate
from models.scores import Additive, Bilinear, Dot, Score
from models.seam import Edit, RecipeEdit, ValuesEdit, WeightsEdit

__all__ = [
    "Additive",
    "Bilinear",
    "Block",
    "Dot",
    "Edge",
    "Edit",
    "Mask",
    "MultiHeadAttention",
    "MultiHeadAttentionConfig",
    "Pattern",
    "Score",
    "attend",
]


def attend(
    q: Float[Tensor, "batch head query dim"],
    k: Float[Tensor, "batch kv_head key key_dim"],
    v: Float[Tensor, "batch kv_head key value_dim"],
    *,
    mask: Mask = Mask(),
    score: Score = Dot(),
    bias: Bias = None,
    dropout: float = 0.0,
    edit: Sequence[Edit] | Edit | None = None,
) -> tuple[Float[Tensor, "batch head query value_dim"], Pattern]:
    """Weighs the values by how well queries and keys match.

    Args:
        q: queries.
        k: keys; fewer heads than queries means grouped queries.
        v: values, as many heads as keys.
        mask: which keys each query may attend to.
        score: how well a query and a key match.
        bias: added to the scores (see `Pattern.bias`).
        dropout: the share of weights dropped while training; never part of the pattern.
        edit: what to change on the way, in order.

    Returns:
        The values, and the pattern that gives any part of the weights.

    Raises:
        ValueError: if the heads of q, k and v do not fit together.
    """
    edits = () if edit is None else tuple(edit) if isinstance(edit, Sequence) else (edit,)
    pattern = Pattern(q, k, v, mask=mask, score=score, bias=bias)
    for step in edits:
        if isinstance(step, RecipeEdit):
            pattern = step.edit_recipe(pattern)
    pattern = replace(pattern, weights_edits=tuple(e for e in edits if isinstance(e, WeightsEdit)))
    values, path = values_of(pattern, dropout)
    kept = values if values.requires_grad else None
    pattern = replace(pattern, path=path, values=kept)
    for step in edits:
        if isinstance(step, ValuesEdit):
            values = step.edit_values(values, pattern)
    return values, pattern


def check_heads(dim: int, heads: int, head_dim: int | None) -> None:
    """Raises ValueError unless the heads have a width: their own, or an equal share of dim."""
    if dim < 1 or heads < 1 or (head_dim is not None and head_dim < 1):
        raise ValueError(
            f"expected positive dim, heads and head_dim, received {dim}, {heads} and {head_dim}"
        )
    if head_dim is None and dim % heads:
        fitting = ", ".join(str(count) for count in range(1, dim + 1) if dim % count == 0)
        raise ValueError(
            f"heads must divide dim: expected one of {fitting} for dim {dim}, received {heads}"
        )


@dataclass(frozen=True)
class MultiHeadAttentionConfig:
    """Sizes of one attention layer.

    Attributes:
        dim: width of what comes out.
        heads: number of heads.
        head_dim: width of one head; None means dim / heads.
        input_dim: width of what goes in; None means dim.
        qkv_bias: whether query, key and value projections have a bias.
        out_bias: whether the output projection has one.
        scale: factor of the dot product; None means 1/√head_dim.
        value_shortcut: whether the values, heads merged, are added to the output, past its
            projection (self-attention only; Yuan et al. 2021, whose line allows only one head).
        dropout: the share of weights dropped while training.
    """

    dim: int = 64
    heads: int = 4
    head_dim: int | None = None
    input_dim: int | None = None
    qkv_bias: bool = True
    out_bias: bool = True
    scale: float | None = None
    value_shortcut: bool = False
    dropout: float = 0.0

    def __post_init__(self) -> None:
        check_heads(self.dim, self.heads, self.head_dim)
        if self.value_shortcut and self.heads * self.width != self.dim:
            raise ValueError(
                f"value_shortcut: expected heads × head_dim = dim, received"
                f" {self.heads} × {self.width} and {self.dim}"
            )

    @property
    def width(self) -> int:
        """Width of one head."""
        return self.dim // self.heads if self.head_dim is None else self.head_dim


class MultiHeadAttention(nn.Module):
    """Several attentions side by side, each on its own projection of the input.

    Source: Vaswani et al. 2017, section 3.2.2.
    """

    def __init__(self, config: MultiHeadAttentionConfig = MultiHeadAttentionConfig()) -> None:
        super().__init__()
        inside = config.heads * config.width
        into = config.dim if config.input_dim is None else config.input_dim
        self.config = config
        self.query = nn.Linear(into, inside, bias=config.qkv_bias)
        self.key = nn.Linear(into, inside, bias=config.qkv_bias)
        self.value = nn.Linear(into, inside, bias=config.qkv_bias)
        self.out = nn.Linear(inside, config.dim, bias=config.out_bias)

    def forward(
        self,
        x: Float[Tensor, "batch query input_dim"],
        context: Float[Tensor, "batch key input_dim"] | None = None,
        *,
        mask: Mask = Mask(),
        bias: Bias = None,
        angles: Float[Tensor, "query pair"] | None = None,
        edit: Sequence[Edit] = (),
    ) -> tuple[Float[Tensor, "batch query dim"], Pattern]:
        """Attends from x to the context, or to itself if there is none.

        Args:
            x: what attends.
            context: what is attended to.
            mask: which keys each query may attend to.
            bias: added to the scores (see `Pattern.bias`).
            angles: what queries and keys are rotated by (see `models.relative.rotate`).
            edit: what to change on the way, in order.
        """
        if context is not None and self.config.value_shortcut:
            raise ValueError("value_shortcut is for self-attention: expected no context")
        if context is not None and angles is not None:
            raise ValueError("angles are for self-attention: expected no context")
        source = x if context is None else context
        q, k, v = self._split(self.query(x)), self._split(self.key(source)), self.value(source)
        if angles is not None:
            q, k = rotate(q, angles), rotate(k, angles)
        values, pattern = attend(
            q,
            k,
            self._split(v),
            mask=mask,
            score=Dot(scale=self.config.scale),
            bias=bias,
            dropout=self.config.dropout if self.training else 0.0,
            edit=edit,
        )
        out = self.out(rearrange(values, "batch head token dim -> batch token (head dim)"))
        return (out + v if self.config.value_shortcut else out), pattern

    def _split(self, x: Tensor) -> Tensor:
        return rearrange(
            x, "batch token (head dim) -> batch head token dim", head=self.config.heads
        )
