"""A query whose keys are all masked: masking with −∞ against a large negative number.

A softmax of −∞ alone is 0/0, which is no number. Under −10⁹ all keys are hidden alike, and the
softmax, which only knows differences, gives each the same share: the query attends to what it was
to be kept from. In half precision −10⁹ is −∞ already.
"""

import torch
from jaxtyping import Float
from torch import Tensor

from models.attention import Mask, attend

LARGE = -1e9


def hidden_row(scores: Float[Tensor, " key"]) -> dict[str, Float[Tensor, " key"]]:
    """The weights of one query whose keys are all hidden, four ways.

    Args:
        scores: of its keys, before they are hidden.

    Returns:
        By name; NaN where there is no answer.
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
