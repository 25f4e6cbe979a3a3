"""Layer normalisation step by step, compared with batch normalisation.

LayerNorm norms every token by its own features, BatchNorm every feature by all tokens of the batch
(Ba, Kiros and Hinton 2016; Ioffe and Szegedy 2015, algorithm 1).
"""

from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor

from models.blocks import LayerNorm, standardised


@dataclass(frozen=True, eq=False)
class NormSteps:
    """The intermediate results of LayerNorm for one vector, in order.

    Attributes:
        mean: μ, of its features.
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
    """Every number between a vector and what the layer makes of it."""
    mean = x.mean()
    centred = x - mean
    squares = centred.square()
    variance = squares.mean()
    deviation = (variance + layer.eps).sqrt()
    return NormSteps(
        mean, centred, squares, variance, deviation, centred / deviation, layer(x).detach()
    )


def layer_normed(x: Float[Tensor, "token dim"], *, eps: float = 1e-5) -> Float[Tensor, "token dim"]:
    """Every row with mean 0 and deviation 1."""
    return standardised(x, eps=eps)


def batch_normed(x: Float[Tensor, "token dim"], *, eps: float = 1e-5) -> Float[Tensor, "token dim"]:
    """Every column with mean 0 and deviation 1, as while training: by the batch's own numbers."""
    return standardised(x.T, eps=eps).T
