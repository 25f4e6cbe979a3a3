"""How a token's influence fades with distance: a recurrence against one attention layer.

A recurrence h ← act(g · R h + U x), with R orthogonal, multiplies what it knows of a token by g · R
at every later token. Without an activation the influence of a token on the last state shrinks or
grows by exactly g a step: g to the power of the distance. Attention reaches every token in one
step, whatever its distance.

`reach` has the costs and receptive fields of the same layers.

Source: Bengio et al. 1994 and Pascanu et al. 2013 for the recurrence.
"""

from math import sqrt

import torch
from jaxtyping import Float
from torch import Tensor

from models.attention import MultiHeadAttention, MultiHeadAttentionConfig
from models.seeding import seeded

DIM = 16
ACTIVATIONS = ("tanh", "none")


def recurrent_influence(tokens: int, *, gain: float, activation: str) -> Float[Tensor, " token"]:
    """Influence of each token on the last state of an untrained recurrence.

    Args:
        tokens: length of the sequence of random tokens.
        gain: factor g of the orthogonal matrix.
        activation: one of `ACTIVATIONS`.

    Returns:
        The Frobenius norm of the last state's Jacobian with respect to each token.
    """
    if activation not in ACTIVATIONS:
        raise ValueError(f"activation: expected {' or '.join(ACTIVATIONS)}, received {activation}")
    with seeded(0):
        turn = torch.linalg.qr(torch.randn(DIM, DIM)).Q
        inward = torch.randn(DIM, DIM) / sqrt(DIM)
        x = torch.randn(tokens, DIM)
    # in float64: squares of what is left after 64 tokens are below float32's smallest number
    turn, inward, x = turn.double(), inward.double(), x.double()
    states = [x.new_zeros(DIM)]
    for token in x:
        state = gain * turn @ states[-1] + inward @ token
        states.append(state.tanh() if activation == "tanh" else state)
    later, norms = (
        torch.eye(DIM, dtype=x.dtype),
        [],
    )  # slopes of the last state with respect to a later one
    for state in reversed(states[1:]):
        slopes = later * (1 - state.square()) if activation == "tanh" else later
        norms.append((slopes @ inward).norm())
        later = gain * slopes @ turn
    return torch.stack(norms[::-1]).float()


def attention_influence(tokens: int) -> Float[Tensor, " token"]:
    """Influence of each token on the last output of one untrained attention layer.

    Returns:
        The Frobenius norm of the last output's Jacobian with respect to each token.
    """
    with seeded(0):
        layer = MultiHeadAttention(MultiHeadAttentionConfig(dim=DIM, heads=1)).eval()
        x = torch.randn(tokens, DIM)
    jacobian = torch.autograd.functional.jacobian(
        lambda x: layer(x[None])[0][0, -1], x, vectorize=True
    )
    return torch.as_tensor(jacobian).square().sum((0, 2)).sqrt()
