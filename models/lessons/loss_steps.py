"""The output layer step by step: projection, softmax, cross entropy, rank.

logits = W h,   p = exp(logits) / Σ exp(logits),   loss = −log p[target]
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from models.output import Projection, cross_entropy, softmax


@dataclass(frozen=True, eq=False)
class LossSteps:
    """The intermediate results of the output layer for one vector.

    Attributes:
        logits: one for each class.
        exponentials: exp(logits − max(logits)), which cannot overflow.
        total: their sum.
        probabilities: exponentials / total.
        loss: −log of the target's probability, in nats.
        order: classes by descending probability.
        rank: rank of the target in that order, from 1.
        gradient: of the loss with respect to the logits: probabilities minus the target.
    """

    logits: Float[Tensor, " class"]
    exponentials: Float[Tensor, " class"]
    total: Float[Tensor, ""]
    probabilities: Float[Tensor, " class"]
    loss: Float[Tensor, ""]
    order: Int[Tensor, " class"]
    rank: int
    gradient: Float[Tensor, " class"]


def project(
    hidden: Float[Tensor, " dim"], weights: Float[Tensor, "class dim"]
) -> Float[Tensor, " class"]:
    """The logits of one vector: one dot product for each class."""
    layer = Projection(weights.shape[1], weights.shape[0], has_weight=False)
    return layer(hidden[None, None], weights)[0, 0]


def loss_steps(
    logits: Float[Tensor, " class"], target: int, *, smoothing: float = 0.0
) -> LossSteps:
    """Every number between the logits and the loss.

    Args:
        logits: one for each class.
        target: index of the correct class.
        smoothing: label smoothing: the share of the target spread evenly over all classes.

    Raises:
        ValueError: for a target out of range.
    """
    leaf = logits.detach().clone().requires_grad_()
    with torch.enable_grad():
        loss = cross_entropy(leaf[None], torch.tensor([target]), smoothing=smoothing)
        (gradient,) = torch.autograd.grad(loss, leaf)
    exponentials = (logits - logits.max()).exp()
    order = logits.argsort(descending=True, stable=True)
    rank = 1 + int((logits > logits[target]).sum())
    return LossSteps(
        logits=logits,
        exponentials=exponentials,
        total=exponentials.sum(),
        probabilities=softmax(logits),
        loss=loss.detach(),
        order=order,
        rank=rank,
        gradient=gradient,
    )
