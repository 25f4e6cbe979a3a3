"""The output layer: logits, probabilities, how a token is drawn, and the loss.

p = softmax(W h),   loss = −log p[target]          (Vaswani et al. 2017, sections 3.4 and 5.4)

    temperature   softmax(logits / T)
    top-k         only the k most likely tokens
    top-p         only the smallest set of most likely tokens whose probability reaches p

Sources: Fan et al. 2018 (top-k), Holtzman et al. 2020 (top-p, nucleus sampling).
"""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn


class Projection(nn.Module):
    """Projection to one logit per id, with its own weights or tied to an embedding."""

    def __init__(
        self, dim: int, vocab: int, *, has_weight: bool = True, scale: float = 1.0
    ) -> None:
        """Makes the matrix, if there is one.

        Args:
            dim: width of what comes in.
            vocab: how many ids.
            has_weight: whether it has a weight of its own; if not, `forward` takes one.
            scale: what logits are multiplied by.
        """
        super().__init__()
        self.weight = nn.Parameter(torch.empty(vocab, dim)) if has_weight else None
        self.scale = scale
        if self.weight is not None:
            nn.init.xavier_uniform_(self.weight)

    def forward(
        self,
        hidden: Float[Tensor, "batch token dim"],
        shared: Float[Tensor, "vocab dim"] | None = None,
    ) -> Float[Tensor, "batch token vocab"]:
        """The logits.

        Args:
            hidden: the last block's output.
            shared: an embedding whose weights to use.

        Raises:
            ValueError: unless there is exactly one matrix.
        """
        weight = self.weight if shared is None else shared
        if weight is None or (shared is not None and self.weight is not None):
            raise ValueError("shared: expected weights if, and only if, it has none of its own")
        logits = F.linear(hidden, weight)
        return logits if self.scale == 1 else logits * self.scale


def log_softmax(logits: Float[Tensor, "*batch vocab"]) -> Float[Tensor, "*batch vocab"]:
    """log pᵢ = xᵢ − log Σⱼ exp xⱼ, without ever leaving the range of floats."""
    return logits - torch.logsumexp(logits, -1, keepdim=True)


def softmax(logits: Float[Tensor, "*batch vocab"]) -> Float[Tensor, "*batch vocab"]:
    """pᵢ = exp xᵢ / Σⱼ exp xⱼ: positive numbers that sum to 1."""
    return log_softmax(logits).exp()


@dataclass(frozen=True)
class Sampling:
    """How the next token is drawn: first temperature, then top-k, then top-p.

    Attributes:
        temperature: positive; below 1 sharper, above 1 flatter.
        top_k: how many tokens are kept; 0 for all.
        top_p: how much probability is kept at least; 1 for all.
    """

    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0

    def __post_init__(self) -> None:
        if not self.temperature > 0:
            raise ValueError(
                f"temperature: expected a positive number, received {self.temperature}"
            )
        if self.top_k < 0:
            raise ValueError(f"top_k: expected 0 or more, received {self.top_k}")
        if not 0 < self.top_p <= 1:
            raise ValueError(f"top_p: expected a number above 0, at most 1, received {self.top_p}")


def next_probabilities(
    logits: Float[Tensor, " vocab"], *, temperature: float = 1.0, k: int = 0, p: float = 1.0
) -> Float[Tensor, " vocab"]:
    """Probabilities by which the next token is drawn; arguments as for `Sampling`."""
    Sampling(temperature, k, p)  # which says what is wrong with them
    scores = logits / temperature
    if k:
        scores = _only(scores, scores.argsort(descending=True, stable=True)[:k])
    if p < 1:
        order = scores.argsort(descending=True, stable=True)
        shares = scores.softmax(-1)[order]
        before = shares.cumsum(-1) - shares  # probability of all tokens that are more likely
        scores = _only(scores, order[before < p])
    return scores.softmax(-1)


def _only(scores: Tensor, kept: Tensor) -> Tensor:
    return torch.full_like(scores, -torch.inf).index_copy(0, kept, scores[kept])


def cross_entropy(
    logits: Float[Tensor, "*batch vocab"],
    target: Int[Tensor, "*batch"],
    *,
    padding: int | None = None,
    smoothing: float = 0.0,
    weight: float = 1.0,
) -> Float[Tensor, ""]:
    """Mean of −log p[target], in nats: 0 if all is certain and right, log(vocab) if all is even.

    Args:
        logits: one for each id.
        target: which id is right.
        padding: targets that do not count.
        smoothing: the share of the target that is spread evenly over all ids (label smoothing,
            Szegedy et al. 2016, section 7).
        weight: factor of the loss, and so of every gradient, where it is one of several.

    Raises:
        ValueError: if nothing counts, or a target is not among the ids.
    """
    if not 0 <= smoothing <= 1:
        raise ValueError(f"smoothing: expected 0 to 1, received {smoothing}")
    counted = _counted(logits, target, padding)
    logs = log_softmax(logits[counted])
    right = logs.gather(-1, target[counted].long()[:, None])[:, 0]
    loss = -((1 - smoothing) * right + smoothing * logs.mean(-1)).mean()
    return loss if weight == 1 else weight * loss


def top_k_accuracy(
    logits: Float[Tensor, "*batch vocab"],
    target: Int[Tensor, "*batch"],
    k: int = 1,
    *,
    padding: int | None = None,
) -> Float[Tensor, ""]:
    """The share of targets for which fewer than k ids have a larger logit.

    Args:
        logits: one for each id.
        target: which id is right.
        k: how many guesses are allowed.
        padding: targets that do not count.

    Raises:
        ValueError: if nothing counts, a target is not among the ids, or k is not 1 to vocab.
    """
    if not 1 <= k <= logits.shape[-1]:
        raise ValueError(f"k: expected 1 to {logits.shape[-1]}, received {k}")
    counted = _counted(logits, target, padding)
    logits, target = logits[counted], target[counted].long()
    larger = (logits > logits.gather(-1, target[:, None])).sum(-1)
    return (larger < k).float().mean()


def _counted(logits: Tensor, target: Tensor, padding: int | None) -> Bool[Tensor, "*batch"]:
    """True at the targets that count."""
    counted = torch.ones_like(target, dtype=torch.bool) if padding is None else target != padding
    if not counted.any():
        raise ValueError("target: expected at least one that is not padding")
    low, high = int(target[counted].min()), int(target[counted].max())
    if low < 0 or high >= logits.shape[-1]:
        raise ValueError(f"target: expected 0 to {logits.shape[-1] - 1}, received {low} to {high}")
    return counted
