"""Layer normalisation step by step, compared with batch normalisation.

LayerNorm normalises each token over its features, BatchNorm each feature over all tokens of the
batch (Ba, Kiros and Hinton 2016; Ioffe and Szegedy 2015, algorithm 1).
"""

from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor

from models.blocks import LayerNorm, standardised


@dataclass(frozen=True, eq=False)
class NormSteps:
    """The intermediate results of LayerNorm for one vector, in order.

    Attributes:
        mean: μ, over its features.
        centred: x − μ.
        squares: (x − μ)².
        variance: σ², the mean of the squares.
        deviation: √(σ² + ε).
        standardised: (x − μ) / √(σ² + ε).
        out: γ · standardised + β.
    """

    mean: Float[Tensor, ""]
    centred: Float[Tensor, " dim"]
    squares: Float[Tensor, " dim"]
    variance: Float[Tensor, ""]
    deviation: Float[Tensor, ""]
    standardised: Float[Tensor, " dim"]
    out: Float[Tensor, " dim"]


def norm_steps(layer: LayerNorm, x: Float[Tensor, " dim"]) -> NormSteps:
    """Every number between a vector and its normalised form."""
    mean = x.mean()
    centred = x - mean
    squares = centred.square()
    variance = squares.mean()
    deviation = (variance + layer.eps).sqrt()
    return NormSteps(
        mean, centred, squares, variance, deviation, centred / deviation, layer(x).detach()
    )


def layer_normed(x: Float[Tensor, "token dim"], *, eps: float = 1e-5) -> Float[Tensor, "token dim"]:
    """Every row normalised to mean 0 and standard deviation 1."""
    return standardised(x, eps=eps)


def batch_normed(x: Float[Tensor, "token dim"], *, eps: float = 1e-5) -> Float[Tensor, "token dim"]:
    """Every column normalised to mean 0 and standard deviation 1 by the statistics of the batch."""
    return standardised(x.T, eps=eps).T
