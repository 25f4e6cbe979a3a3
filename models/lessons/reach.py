"""Receptive field and cost of one layer: attention, recurrence and convolution compared.

    layer           complexity    sequential steps    maximum path length
    attention       n² · d        1                   1
    recurrence      n · d²        n                   n
    convolution     k · n · d²    1                   (n − 1) / ((k − 1) / 2), in layers

Source: Vaswani et al. 2017, section 4 and table 1. The path length of the convolution is for
undilated kernels: each layer adds (k − 1) / 2 tokens on either side.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Bool
from torch import Tensor, nn

from models.attention import MultiHeadAttention, MultiHeadAttentionConfig
from models.seeding import seeded

KINDS = ("attention", "recurrence", "convolution")


@dataclass(frozen=True)
class Cost:
    """Cost of one layer for n tokens of width d.

    Attributes:
        work: number of multiplications, up to a constant factor.
        steps: number of sequential steps.
        path: maximum path length: steps or layers between the two ends of the sequence.
    """

    work: int
    steps: int
    path: int


def cost(kind: str, tokens: int, dim: int, kernel: int = 3) -> Cost:
    """The row of the table above for one kind of layer and these sizes.

    Raises:
        ValueError: for an unknown kind, or a kernel size that is even or less than 3.
    """
    _check(kind, kernel)
    if kind == "attention":
        return Cost(tokens * tokens * dim, 1, 1)
    if kind == "recurrence":
        return Cost(tokens * dim * dim, tokens, tokens)
    return Cost(kernel * tokens * dim * dim, 1, max(1, -(-(tokens - 1) // (kernel // 2))))


@dataclass(frozen=True)
class Multiplications:
    """Multiplications of one layer of self-attention, whatever its number of heads.

    Attributes:
        scores: Q Kᵀ, n² · d.
        sums: the weighted sums of the values, n² · d.
        projections: queries, keys, values and output, 4 n · d².
    """

    scores: int
    sums: int
    projections: int

    @property
    def total(self) -> int:
        return self.scores + self.sums + self.projections


def multiplications(tokens: int, dim: int) -> Multiplications:
    """Counted without biases and the softmax, for heads that share the width."""
    product = tokens * tokens * dim
    return Multiplications(product, product, 4 * tokens * dim * dim)


def hops(kind: str, tokens: int, kernel: int = 3) -> tuple[int, ...]:
    """The positions that the first token's information passes on its way to the last.

    A hop is a step of a recurrence, or a layer of attention or convolution.

    Raises:
        ValueError: for an unknown kind, or a kernel size that is even or less than 3.
    """
    _check(kind, kernel)
    stride = {"attention": max(1, tokens - 1), "recurrence": 1, "convolution": kernel // 2}[kind]
    return (*range(0, tokens - 1, stride), tokens - 1)


def receptive_fields(
    kind: str, tokens: int, at: int, *, layers: int = 1, kernel: int = 3
) -> Bool[Tensor, "layer token"]:
    """The receptive field of one output position in the input of each layer, by backpropagation.

    Args:
        kind: one of `KINDS`; a recurrence reads from left to right.
        tokens: length of the sequence.
        at: the output position.
        layers: number of stacked layers.
        kernel: kernel size of the convolution.
    """
    _check(kind, kernel)
    dim = 4
    with seeded(0):
        network = [_layer(kind, dim, kernel) for _ in range(layers)]
        y = torch.randn(1, tokens, dim)
    y.requires_grad_()
    inputs = []
    with torch.enable_grad():
        for layer in network:
            inputs.append(y)
            y = _run(kind, layer, y)
        gradients = torch.autograd.grad(y[0, at].sum(), inputs)
    return torch.cat(gradients).abs().sum(-1) > 0


def _layer(kind: str, dim: int, kernel: int) -> nn.Module:
    if kind == "attention":
        return MultiHeadAttention(MultiHeadAttentionConfig(dim=dim, heads=1))
    if kind == "recurrence":
        return nn.RNN(dim, dim, batch_first=True)
    return nn.Conv1d(dim, dim, kernel, padding=kernel // 2)


def _run(kind: str, layer: nn.Module, x: Tensor) -> Tensor:
    if kind == "convolution":
        return layer(x.mT).mT
    out, _ = layer(x)
    return out


def _check(kind: str, kernel: int) -> None:
    if kind not in KINDS:
        raise ValueError(f"kind: expected one of {', '.join(KINDS)}, received {kind!r}")
    if kernel < 3 or kernel % 2 == 0:
        raise ValueError(f"kernel: expected an odd number from 3, received {kernel}")
