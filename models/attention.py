"""Attention: the one function every network here goes through, and the layer built on it.

    attend(q, k, v) = softmax(q·k / √dim) · v          (Vaswani et al. 2017, eq. 1)

`attend` returns the values and the `Pattern`: the recipe of the weights rather than the weights.
So the values come from PyTorch's fused kernel, which never forms the weights, and any head's
weights are worked out afterwards, when somebody looks.

Shapes: batch, head, query (tokens that attend), key (tokens attended to), dim (width of a head).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import torch
import torch.nn.functional as F
from einops import rearrange
from jaxtyping import Float
from torch import Tensor, nn

from models.mask import Edge, Mask
from models.pattern import Bias, Block, Pattern
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

BLOCK_BYTES = 2**26  # a mask, bias or block of weights larger than this is made row by row


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
    path: Literal["fused", "explicit"] = "fused" if _fusable(pattern, dropout) else "explicit"
    values = _fused(pattern) if path == "fused" else _explicit(pattern, dropout)
    kept = values if values.requires_grad else None
    pattern = replace(pattern, path=path, values=kept)
    for step in edits:
        if isinstance(step, ValuesEdit):
            values = step.edit_values(values, pattern)
    return values, pattern


def _fusable(pattern: Pattern, dropout: float) -> bool:
    score = pattern.score
    plain = isinstance(score, Dot) and score.softcap is None and score.sink is None
    same_width = pattern.k.shape[-1] == pattern.v.shape[-1]
    return plain and same_width and dropout == 0 and not pattern.weights_edits


def _fused(pattern: Pattern) -> Tensor:
    """The values through the fused kernel, with the mask in the cheapest form it takes."""
    q, mask = pattern.q, pattern.mask
    if pattern.temperature is not None:
        q = q / pattern.temperature[:, None, None].to(q.dtype)
    if pattern.bias is None and mask.only_causal:
        return _kernel(pattern, q, None, causal=True)
    if pattern.bias is None and mask.same_for_all_rows:
        first = torch.zeros(1, dtype=torch.long, device=q.device)
        return _kernel(pattern, q, mask.visible(first, pattern.keys, range(pattern.heads)))
    blocks = []
    for rows in _row_blocks(pattern):
        blocks.append(_kernel(pattern, q[:, :, rows], _dense_rows(pattern, rows)))
    return torch.cat(blocks, dim=2)


def _kernel(pattern: Pattern, q: Tensor, mask: Tensor | None, *, causal: bool = False) -> Tensor:
    scale = pattern.score.scale if isinstance(pattern.score, Dot) else None
    return F.scaled_dot_product_attention(
        q,
        pattern.k,
        pattern.v,
        attn_mask=mask,
        is_causal=causal,
        scale=scale,
        enable_gqa=pattern.k.shape[1] != pattern.heads,
    )


def _dense_rows(pattern: Pattern, rows: Tensor) -> Tensor | None:
    """Mask and bias of some rows as the one matrix the kernel takes."""
    heads = range(pattern.heads)
    seen = pattern.mask.visible(rows, pattern.keys, heads)
    bias = pattern.bias_rows(rows, heads)
    if bias is None:
        return seen
    if pattern.temperature is not None:
        bias = bias / pattern.temperature[:, None, None]
    bias = bias.to(pattern.q.dtype)
    return bias if seen is None else bias.masked_fill(~seen, -torch.inf)


def _explicit(pattern: Pattern, dropout: float) -> Tensor:
    """The values by way of the weights, some rows at a time."""
    v = pattern.v.repeat_interleave(pattern.heads // pattern.v.shape[1], dim=1)
    blocks = []
    for rows in _row_blocks(pattern):
        weights = pattern.weights(rows=rows)
        blocks.append(F.dropout(weights, dropout).to(v.dtype) @ v)
    return torch.cat(blocks, dim=2)


def _row_blocks(pattern: Pattern) -> Sequence[Tensor]:
    row_bytes = 4 * pattern.batch * pattern.heads * pattern.keys
    hidden = len(pattern.score.vector) if isinstance(pattern.score, Additive) else 1
    step = max(1, BLOCK_BYTES // (row_bytes * hidden))
    return torch.arange(pattern.queries, device=pattern.q.device).split(step)


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
        edit: Sequence[Edit] = (),
    ) -> tuple[Float[Tensor, "batch query dim"], Pattern]:
        """Attends from x to the context, or to itself if there is none."""
        if self.config.value_shortcut and context is not None:
            raise ValueError("value_shortcut is for self-attention: expected no context")
        source = x if context is None else context
        v = self.value(source)
        values, pattern = attend(
            self._split(self.query(x)),
            self._split(self.key(source)),
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
