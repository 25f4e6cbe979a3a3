"""What stands round attention in a block: feed-forward, Add & Norm, stochastic depth."""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn


def _gelu_tanh(x: Tensor) -> Tensor:
    return F.gelu(x, approximate="tanh")


ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": F.relu,
    "gelu": F.gelu,
    "gelu_tanh": _gelu_tanh,
    "tanh": torch.tanh,
    "sigmoid": torch.sigmoid,
    "silu": F.silu,
    "softplus": F.softplus,
    "leaky_relu": F.leaky_relu,
}


class FeedForward(nn.Module):
    """The same two-layer network for every token: dim → hidden → dim."""

    def __init__(
        self, dim: int, hidden: int, *, activation: str = "relu", dropout: float = 0.0
    ) -> None:
        super().__init__()
        if activation not in ACTIVATIONS:
            raise ValueError(
                f"activation: expected one of {', '.join(ACTIVATIONS)}, received {activation!r}"
            )
        self.up = nn.Linear(dim, hidden)
        self.down = nn.Linear(hidden, dim)
        self.dropout = nn.Dropout(dropout)
        self.activation = ACTIVATIONS[activation]

    def forward(self, x: Float[Tensor, "batch token dim"]) -> Float[Tensor, "batch token dim"]:
        return self.down(self.dropout(self.activation(self.up(x))))


class AddNorm(nn.Module):
    """LayerNorm of the sum of what went into a sub-layer and what came out of it."""

    def __init__(self, dim: int, *, dropout: float = 0.0, eps: float = 1e-5) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(dim, eps=eps)
        self.dropout = nn.Dropout(dropout)

    def forward(
        self, x: Float[Tensor, "batch token dim"], y: Float[Tensor, "batch token dim"]
    ) -> Float[Tensor, "batch token dim"]:
        return self.norm(x + self.dropout(y))


class DropPath(nn.Module):
    """Stochastic depth: while training, an item skips the whole branch with this probability.

    What is kept is scaled up, so that the expected sum stays the same.

    Source: Huang et al. 2016, section 3; per item and scaled as in timm.
    """

    def __init__(self, probability: float) -> None:
        super().__init__()
        if not 0 <= probability < 1:
            raise ValueError(f"drop_path: expected 0 up to 1, received {probability}")
        self.probability = probability

    def forward(self, x: Float[Tensor, "batch token dim"]) -> Float[Tensor, "batch token dim"]:
        if not self.training or not self.probability:
            return x
        kept = 1 - self.probability
        return x * (torch.rand(len(x), 1, 1, device=x.device) < kept).to(x.dtype) / kept
