"""`attend`: the one function all attention goes through.

    attend(q, k, v) = softmax(q·k / √dim) · v          (Vaswani et al. 2017, eq. 1)

It returns the values and a `Pattern`: the recipe of the weights rather than the weights. The values
come from PyTorch's fused kernel, which never forms the weights; the weights of any head are
computed from the recipe on request.

Shapes: batch, head, query (tokens that attend), key (tokens attended to), dim (width of a head).
"""

from collections.abc import Iterator, Sequence

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from models.attention.edit_protocols import Edit, RecipeEdit, ValuesEdit
from models.attention.mask import Mask
from models.attention.pattern import Bias, Pattern, WeightsEdit
from models.attention.scores import Additive, Dot, Score, masked_scores


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
    """Scaled dot-product attention, or another score.

    Args:
        q: queries.
        k: keys; fewer heads than q means grouped-query attention.
        v: values, with as many heads as k.
        mask: which keys each query may attend to.
        score: the scoring function.
        bias: added to the scores (see `Pattern.bias`).
        dropout: probability of dropping a weight; never part of the pattern.
        edit: interventions, in order.

    Returns:
        The values, and the pattern that gives any part of the weights.

    Raises:
        ValueError: if the numbers of heads of q, k and v are incompatible.
    """
    edits = () if edit is None else tuple(edit) if isinstance(edit, Sequence) else (edit,)
    return attended(Pattern(q, k, v, mask=mask, score=score, bias=bias), edits, dropout)


def attended(
    pattern: Pattern, edits: Sequence[Edit] = (), dropout: float = 0.0
) -> tuple[Float[Tensor, "batch head query value_dim"], Pattern]:
    """As `attend`, of a recipe without edits."""
    for step in edits:
        if isinstance(step, RecipeEdit):
            pattern = step.edit_recipe(pattern)
    of_weights = tuple(edit for edit in edits if isinstance(edit, WeightsEdit))
    fused = not of_weights and _fusable(pattern, dropout)
    pattern = pattern.derived(
        weights_edits=of_weights,
        values_edits=tuple(edit for edit in edits if isinstance(edit, ValuesEdit)),
        path="fused" if fused else "explicit",
    )
    values = values_of(pattern, dropout)
    if values.requires_grad:
        pattern = pattern.derived(values=values)
    return with_values_edits(values, pattern), pattern


def with_values_edits(
    values: Float[Tensor, "batch head query value_dim"], pattern: Pattern
) -> Float[Tensor, "batch head query value_dim"]:
    """The values that the weights of a recipe give, with the edits of values."""
    for step in pattern.values_edits:
        values = step.edit_values(values, pattern)
    return values


def edited_values(pattern: Pattern) -> Float[Tensor, "batch head query value_dim"]:
    """The values that left the attention of a recipe, computed again."""
    return with_values_edits(values_of(pattern), pattern)


WINDOW_ROWS = 128
PASS_BYTES = 2**26  # of a mask, bias or weights that a forward pass makes at a time


def values_of(
    pattern: Pattern, dropout: float = 0.0
) -> Float[Tensor, "batch head query value_dim"]:
    """The values that the weights of a recipe give, by the path that it states."""
    return _fused(pattern) if pattern.path == "fused" else _explicit(pattern, dropout)


def _fusable(pattern: Pattern, dropout: float) -> bool:
    score = pattern.score
    plain = isinstance(score, Dot) and score.softcap is None and score.sink is None
    same_width = pattern.k.shape[-1] == pattern.v.shape[-1]
    return plain and same_width and pattern.mask.hidden == -torch.inf and dropout == 0


def _fused(pattern: Pattern) -> Tensor:
    """Values from the fused kernel, with the mask in its cheapest form."""
    q, mask = pattern.q, pattern.mask
    if pattern.temperature is not None:
        q = q / pattern.temperature[:, None, None].to(q.dtype)
    if pattern.bias is None and mask.only_causal:
        return _kernel(pattern, q, None, causal=True)
    if pattern.bias is None and mask.same_for_all_rows:
        return _kernel(pattern, q, None if mask.padding is None else ~mask.padding[:, None, None])
    blocks = []
    for rows in _spans(pattern):
        keys = mask.reach(rows, pattern.keys)
        matrix = _dense_rows(pattern, rows, keys)
        blocks.append(_kernel(pattern, q[:, :, rows], matrix, keys=keys))
    return torch.cat(blocks, dim=2)


def _kernel(
    pattern: Pattern,
    q: Tensor,
    mask: Tensor | None,
    *,
    causal: bool = False,
    keys: slice | None = None,
) -> Tensor:
    k, v = pattern.k, pattern.v
    if keys is not None:
        k, v = k[:, :, keys], v[:, :, keys]
    scale = pattern.score.scale if isinstance(pattern.score, Dot) else None
    grouped = k.shape[1] != q.shape[1]
    return F.scaled_dot_product_attention(
        q, k, v, attn_mask=mask, is_causal=causal, scale=scale, enable_gqa=grouped
    )


def _dense_rows(pattern: Pattern, rows: slice, keys: slice) -> Tensor | None:
    """Mask and bias of some rows and keys as one matrix for the kernel."""
    heads, each = range(pattern.heads), torch.arange(rows.start, rows.stop, device=pattern.q.device)
    seen = pattern.mask.visible(each, keys.stop, heads, start=keys.start)
    bias = pattern.bias_rows(rows, heads, keys=keys)
    if bias is None:
        return seen
    hidden = None if seen is None else ~seen
    return masked_scores(bias, temperature=pattern.temperature, hidden=hidden).to(pattern.q.dtype)


def _spans(pattern: Pattern) -> Iterator[slice]:
    """Row blocks; smaller ones for windowed attention, so that most keys can be skipped."""
    longest = max(len(rows) for rows in _row_blocks(pattern))
    if pattern.mask.window is not None:
        longest = min(longest, max(WINDOW_ROWS, pattern.mask.window))
    for start in range(0, pattern.queries, longest):
        yield slice(start, min(start + longest, pattern.queries))


def _explicit(pattern: Pattern, dropout: float) -> Tensor:
    """Values from explicit weights, in blocks of rows."""
    v = pattern.v.repeat_interleave(pattern.heads // pattern.v.shape[1], dim=1)
    blocks = []
    for rows in _row_blocks(pattern):
        weights = pattern.weights(rows=rows)
        blocks.append(F.dropout(weights, dropout).to(v.dtype) @ v)
    return torch.cat(blocks, dim=2)


def _row_blocks(pattern: Pattern) -> Sequence[Tensor]:
    row_bytes = 4 * pattern.batch * pattern.heads * pattern.keys
    hidden = pattern.score.width if isinstance(pattern.score, Additive) else 1
    step = max(1, PASS_BYTES // (row_bytes * hidden))
    return torch.arange(pattern.queries, device=pattern.q.device).split(step)
