"""Scores to weights: the softmax, with what it needs for sinks and for rows with no key."""

import torch
from jaxtyping import Float
from torch import Tensor


def softmax(
    scores: Float[Tensor, "batch head row key"],
    *,
    sink: Float[Tensor, " head"] | None = None,
    masked: bool = True,
) -> Float[Tensor, "batch head row key"]:
    """Shares of each row that sum to 1, less what a sink takes; zero for a row of −∞.

    Args:
        scores: what is compared.
        sink: one more score per head, which takes a share and is left out of the result.
        masked: whether any score may be −∞.
    """
    if sink is not None:
        logit = sink[:, None, None].to(scores.dtype).expand(*scores.shape[:-1], 1)
        return torch.softmax(torch.cat([scores, logit], -1), -1)[..., :-1]
    if not masked:
        return torch.softmax(scores, -1)
    empty = scores.amax(-1, keepdim=True).isneginf()
    # Softmax of a row of −∞ is NaN, and so would be its gradient: such rows go round it.
    return torch.softmax(scores.masked_fill(empty, 0.0), -1).masked_fill(empty, 0.0)
