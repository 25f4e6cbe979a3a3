"""Where order comes from: attention alone does not know which token came first.

Each encoding adds one vector per position to the token's own.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn


def sinusoidal(
    positions: int, dim: int, *, base: float = 10_000.0, device: torch.device | str | None = None
) -> Float[Tensor, "position dim"]:
    """Sines and cosines of falling frequency.

        P[p, 2i] = sin(p / base^(2i/dim)),   P[p, 2i+1] = cos(p / base^(2i/dim))

    Args:
        positions: how many.
        dim: width; an odd width ends on a sine.
        base: of the geometric row of wavelengths, from 2π to 2π·base.
        device: where the table is made.

    Source: Vaswani et al. 2017, section 3.5.
    """
    if positions < 1 or dim < 1:
        raise ValueError(f"expected positive positions and dim, received {positions} and {dim}")
    position = torch.arange(positions, dtype=torch.float64, device="cpu")[:, None]
    even = torch.arange(0, dim, 2, dtype=torch.float64)
    angle = position / base ** (even / dim)
    table = torch.stack([angle.sin(), angle.cos()], -1).flatten(1)[:, :dim]
    return table.float().to(device)


class Sinusoidal(nn.Module):
    """Adds the fixed table of `sinusoidal`, which has nothing to learn."""

    def forward(self, x: Float[Tensor, "batch token dim"]) -> Float[Tensor, "batch token dim"]:
        return x + sinusoidal(x.shape[1], x.shape[2], device=x.device).to(x.dtype)


class Learned(nn.Module):
    """Adds one learned vector per position."""

    def __init__(self, positions: int, dim: int) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.randn(positions, dim))

    def forward(self, x: Float[Tensor, "batch token dim"]) -> Float[Tensor, "batch token dim"]:
        return x + self.table[: x.shape[1]]


POSITIONS = ("sinusoidal", "learned", "none")


def positions_of(kind: str, positions: int, dim: int) -> nn.Module:
    """The module for one of `POSITIONS`; ValueError for any other name."""
    if kind == "sinusoidal":
        return Sinusoidal()
    if kind == "learned":
        return Learned(positions, dim)
    if kind == "none":
        return nn.Identity()
    raise ValueError(f"positions: expected one of {', '.join(POSITIONS)}, received {kind!r}")
