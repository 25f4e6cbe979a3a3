"""The one function every attention here goes through.

    attend(q, k, v) = softmax(q·k / √dim) · v          (Vaswani et al. 2017, eq. 1)

It returns the values and the `Pattern`: the recipe of the weights rather than the weights. So the
values come from PyTorch's fused kernel, which never forms the weights, and any head's weights are
worked out afterwards, when somebody looks.

Shapes: batch, head, query (tokens that attend), key (tokens attended to), dim (width of a head).
"""

from collections.abc import Sequence
from dataclasses import replace

from jaxtyping import Float
from torch import Tensor

from models.kernel import values_of
from models.mask import Mask
from models.pattern import Bias, Pattern
from models.scores import Dot, Score
from models.seam import Edit, RecipeEdit, ValuesEdit, WeightsEdit


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
