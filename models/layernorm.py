"""Layer normalisation written out from its formula: what `torch.nn.LayerNorm` works out.

    μ = mean of the features of one token,  σ² = mean of (feature − μ)²
    out = γ · (x − μ) / √(σ² + ε) + β                    (Ba, Kiros and Hinton 2016, eq. 4)

Every token is normed by its own numbers, whatever else is in the batch, where batch normalisation
norms every feature by the whole batch.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn


class LayerNorm(nn.Module):
    """Brings every token to mean β and deviation γ; both are learned, and start at 0 and 1."""

    def __init__(self, dim: int, *, eps: float = 1e-5) -> None:
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(dim))
        self.bias = nn.Parameter(torch.zeros(dim))

    def forward(self, x: Float[Tensor, "*token dim"]) -> Float[Tensor, "*token dim"]:
        return self.weight * standardised(x, eps=self.eps) + self.bias


def standardised(
    x: Float[Tensor, "*token dim"], *, eps: float = 1e-5
) -> Float[Tensor, "*token dim"]:
    """Every token with mean 0 and deviation 1 over its features.

    The variance is the biased one: a sum divided by the number of features, not by one less.
    """
    centred = x - x.mean(-1, keepdim=True)
    variance = centred.square().mean(-1, keepdim=True)
    return centred / (variance + eps).sqrt()
