"""Attention rollout: the weights of all layers multiplied, residual connections included.

    Ã = rownorm(fused(A) + I),   R = Ã_L … Ã_2 Ã_1

It treats every layer as an average of its input tokens: values, output projections, norms and
feed-forward networks do not enter.
"""

from functools import reduce

from jaxtyping import Float
from torch import Tensor

from analysis.stack import Fusion, layer_map, self_attention
from models.progress import Progress, each, no_progress
from models.trace import Trace


def rollout(
    trace: Trace,
    *,
    fusion: Fusion = "mean",
    discard: float = 0.0,
    tower: str | None = None,
    item: int = 0,
    progress: Progress = no_progress,
) -> Float[Tensor, "query key"]:
    """How much of each input token is in each token of the last layer, by attention alone.

    Args:
        trace: of a forward pass.
        fusion: how the heads of a layer are fused: "mean", "max" or "min".
        discard: share of a layer's weights above 0, the smallest ones, that is set to 0. Rows are
            divided by their sums afterwards, so that they still sum to 1.
        tower: of a model with several, such as "encoder" or "decoder".
        item: index in the batch.
        progress: called before each layer and after the last; an exception ends it.

    Returns:
        0 to 1; rows sum to 1. Of uniform attention in L layers: 2^−L on the diagonal, the rest
        spread evenly.

    Raises:
        ValueError: for networks whose layers do not form one stack (see `stack.self_attention`).

    Source: Abnar & Zuidema 2020, "Quantifying Attention Flow in Transformers", eq. 1.
    """
    layers = each(self_attention(trace, tower), progress)
    maps = (layer_map(trace, site, fusion, discard=discard, item=item) for site in layers)
    return reduce(lambda below, above: above @ below, maps)
