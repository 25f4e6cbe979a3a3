"""Layer normalisation beside batch normalisation.

LayerNorm normalises each token over its features, BatchNorm each feature over all tokens of the
batch (Ba, Kiros and Hinton 2016; Ioffe and Szegedy 2015, algorithm 1).
"""

from jaxtyping import Float
from torch import Tensor

from models.blocks import standardised

EPS = 1e-5


def layer_normed(x: Float[Tensor, "token dim"]) -> Float[Tensor, "token dim"]:
    """Every row normalised to mean 0 and standard deviation 1."""
    return standardised(x, eps=EPS)


def batch_normed(x: Float[Tensor, "token dim"]) -> Float[Tensor, "token dim"]:
    """Every column normalised to mean 0 and standard deviation 1 by the statistics of the batch."""
    return standardised(x.T, eps=EPS).T
