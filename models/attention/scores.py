"""Scoring functions and the softmax.

Each is a value with one method, `scores(q, k, heads)`. Shapes: q `batch head query dim`,
k `batch head key dim` (already one per query head), result `batch head query key`.

Sources: scaled dot product: Vaswani et al. 2017, eq. 1. Bilinear ("general"): Luong et al. 2015,
eq. 8. Additive: Bahdanau et al. 2015, appendix A.1.2. Soft cap: Gemma 2 report, section 2.
Sink: Xiao et al. 2023 in its learned form (one logit a head, as in gpt-oss).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor


@dataclass(frozen=True, eq=False)
class Dot:
    """Scaled dot product.

    Attributes:
        scale: the factor; None means 1/√dim.
        softcap: bounds scores to ±softcap: softcap·tanh(score/softcap).
        sink: one extra logit per head in the softmax, which takes weight but has no value.
    """

    scale: float | None = None
    softcap: float | None = None
    sink: Float[Tensor, " head"] | None = None

    def __post_init__(self) -> None:
        if self.softcap is not None and self.softcap <= 0:
            raise ValueError(f"softcap: expected a positive number, received {self.softcap}")

    def scores(
        self,
        q: Float[Tensor, "batch head query dim"],
        k: Float[Tensor, "batch head key dim"],
        heads: Sequence[int],
    ) -> Float[Tensor, "batch head query key"]:
        scale = q.shape[-1] ** -0.5 if self.scale is None else self.scale
        scores = (q * scale) @ k.transpose(-1, -2)
        if self.softcap is None:
            return scores
        return self.softcap * torch.tanh(scores / self.softcap)


@dataclass(frozen=True, eq=False)
class Bilinear:
    """qᵀMk, with one matrix for all heads or one per head; query and key widths may differ."""

    matrix: Float[Tensor, "query_dim key_dim"] | Float[Tensor, "head query_dim key_dim"]

    def scores(
        self,
        q: Float[Tensor, "batch head query query_dim"],
        k: Float[Tensor, "batch head key key_dim"],
        heads: Sequence[int],
    ) -> Float[Tensor, "batch head query key"]:
        matrix = self.matrix if self.matrix.ndim == 2 else _chosen(self.matrix, heads)
        return q @ matrix.to(q.dtype) @ k.transpose(-1, -2)


@dataclass(frozen=True, eq=False)
class Additive:
    """wᵀ tanh(W_q q + W_k k): a small network with one hidden layer.

    It needs memory for `query × key × hidden` numbers per head, where a dot product needs
    `query × key`: one reason why dot products prevailed.

    Attributes:
        query: W_q; None where the queries are W_q q already.
        key: W_k; None where the keys are W_k k already.
        vector: w, one for all heads or one per head.
    """

    query: Float[Tensor, "hidden query_dim"] | None
    key: Float[Tensor, "hidden key_dim"] | None
    vector: Float[Tensor, " hidden"] | Float[Tensor, "head hidden"]

    @property
    def width(self) -> int:
        """Number of hidden units."""
        return self.vector.shape[-1]

    def hidden(
        self, q: Float[Tensor, "*query query_dim"], k: Float[Tensor, "*key key_dim"]
    ) -> tuple[Tensor, Tensor]:
        """W_q q and W_k k, whose sum goes through the tanh."""
        of_q = q if self.query is None else q @ self.query.to(q.dtype).T
        return of_q, k if self.key is None else k @ self.key.to(k.dtype).T

    def vector_of(self, head: int) -> Float[Tensor, " hidden"]:
        """w of one head."""
        return self.vector if self.vector.ndim == 1 else self.vector[head]

    def scores(
        self,
        q: Float[Tensor, "batch head query query_dim"],
        k: Float[Tensor, "batch head key key_dim"],
        heads: Sequence[int],
    ) -> Float[Tensor, "batch head query key"]:
        of_q, of_k = self.hidden(q, k)
        hidden = torch.tanh(of_q[:, :, :, None] + of_k[:, :, None])
        vector = self.vector if self.vector.ndim == 1 else _chosen(self.vector, heads)
        logits = hidden.flatten(2, 3) @ vector.to(q.dtype)[..., None]
        return logits.unflatten(2, hidden.shape[2:4])[..., 0]


Score = Dot | Bilinear | Additive


def _chosen(each: Float[Tensor, "head ..."], heads: Sequence[int]) -> Tensor:
    """The weights of some heads; of all of them, without a copy."""
    return each if len(heads) == len(each) else each[list(heads)]


def masked_scores(
    scores: Float[Tensor, "..."],
    *,
    bias: Float[Tensor, "..."] | None = None,
    temperature: Float[Tensor, " #head"] | None = None,
    hidden: Bool[Tensor, "..."] | None = None,
    fill: float = -torch.inf,
) -> Float[Tensor, "..."]:
    """(scores + bias) / temperature, and `fill` at hidden keys.

    Args:
        scores: `head row key`, and `batch` before them.
        bias: broadcast to the scores.
        temperature: one per head.
        hidden: True at hidden keys, broadcast to the scores.
        fill: the score of a hidden key.
    """
    if bias is not None:
        scores = scores + bias.to(scores.dtype)
    if temperature is not None:
        scores = scores / temperature[:, None, None].to(scores.dtype)
    return scores if hidden is None else scores.masked_fill(hidden, fill)


def softmax(
    scores: Float[Tensor, "batch head row key"],
    *,
    sink: Float[Tensor, " head"] | None = None,
    masked: bool = True,
) -> Float[Tensor, "batch head row key"]:
    """Softmax over keys, without the sink's share; all zeros for a row of −∞.

    Args:
        scores: before the softmax.
        sink: one extra score per head, which takes a share and is dropped from the result.
        masked: whether any score may be −∞.
    """
    if sink is not None:
        logit = sink[:, None, None].to(scores.dtype).expand(*scores.shape[:-1], 1)
        return torch.softmax(torch.cat([scores, logit], -1), -1)[..., :-1]
    if not masked:
        return torch.softmax(scores, -1)
    empty = scores.amax(-1, keepdim=True).isneginf()
    # The softmax of a row of −∞, and its gradient, would be NaN: such rows are handled separately.
    return torch.softmax(scores.masked_fill(empty, 0.0), -1).masked_fill(empty, 0.0)
