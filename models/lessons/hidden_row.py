"""A query whose keys are all masked: masking with −∞ against a large negative number.

If every score is −∞, the softmax is 0/0 = NaN. If every score is −10⁹, the softmax, which depends
on differences only, is uniform: the query attends to the very keys the mask should hide. In half
precision −10⁹ overflows to −∞.
"""

import torch
from jaxtyping import Float
from torch import Tensor

from models.attention import Mask, attend

LARGE = -1e9


def hidden_row(scores: Float[Tensor, " key"]) -> dict[str, Float[Tensor, " key"]]:
    """The weights of one query whose keys are all masked, computed in four ways.

    Args:
        scores: of its keys, before masking.

    Returns:
        The weights by method; NaN where they are undefined.
    """
    q, k = scores.new_ones(1, 1, 1, 1), scores[None, None, :, None]
    nothing = torch.zeros(1, 1, 1, len(scores), dtype=torch.bool)

    def ours(fill: float | None) -> Tensor:
        _, pattern = attend(q, k, k, mask=Mask(dense=nothing, fill=fill))
        return pattern.weights(0, item=0)[0]

    return {
        "−∞, as here": ours(None),
        "−∞, a plain softmax": torch.softmax(torch.full_like(scores, -torch.inf), -1),
        "−1e9": ours(LARGE),
        "−1e9 in half precision": torch.softmax(torch.full_like(scores, LARGE).half().float(), -1),
    }
