"""Absolute position encodings, added to the tokens.

Those that reach into attention itself (rotary, ALiBi, T5's relative bias) are in
models/attention/relative.py.
"""

from math import prod

import torch
import torch.nn.functional as F
from einops import rearrange
from jaxtyping import Float
from torch import Tensor, nn

from models.attention.relative import RELATIVE


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
    position = torch.arange(positions, dtype=torch.float64, device="cpu")[:, None]
    even = torch.arange(0, dim, 2, dtype=torch.float64, device="cpu")
    angle = position / base ** (even / dim)
    table = torch.stack([angle.sin(), angle.cos()], -1).flatten(1)[:, :dim]
    return table.float().to(device)


def sincos_2d(
    rows: int, cols: int, dim: int, *, base: float = 10_000.0
) -> Float[Tensor, "position dim"]:
    """Sines and cosines for a grid: half of the width tells the column, half the row.

        P[r·cols + c] = [sin(c·ω) | cos(c·ω) | sin(r·ω) | cos(r·ω)],   ω_i = base^(-4i/dim)

    The column comes first and sines are not mixed with cosines: the layout of MAE, and of every
    checkpoint that follows it.

    Args:
        rows: of the grid, which is read row by row.
        cols: of the grid.
        dim: width, a multiple of 4.
        base: of the geometric row of wavelengths.

    Source: He et al. 2022 (MAE), appendix A.1, and its published code.
    """
    omega = base ** (-torch.arange(0, dim, 4, dtype=torch.float64, device="cpu") / dim)
    row = torch.arange(rows, dtype=torch.float64, device="cpu").repeat_interleave(cols)
    col = torch.arange(cols, dtype=torch.float64, device="cpu").repeat(rows)
    across, down = col[:, None] * omega, row[:, None] * omega
    return torch.cat([across.sin(), across.cos(), down.sin(), down.cos()], dim=1).float()


def interpolate_grid(
    table: Float[Tensor, "old_position dim"], old: tuple[int, int], new: tuple[int, int]
) -> Float[Tensor, "new_position dim"]:
    """A table of vectors, one per cell of a grid, resampled to another grid (bicubic).

    Args:
        table: one row per cell of the old grid, row by row.
        old: its (rows, cols).
        new: the (rows, cols) that are wanted; the same grid gives the table itself.

    Source: Dosovitskiy et al. 2021, section 3.2; transformers' `interpolate_pos_encoding`.
    """
    if old == new:
        return table
    grid = rearrange(table, "(row col) dim -> 1 dim row col", row=old[0])
    resampled = F.interpolate(grid, size=new, mode="bicubic", align_corners=False)
    return rearrange(resampled, "1 dim row col -> (row col) dim")


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


class GridPositions(nn.Module):
    """Adds a vector to the class token and to each patch, for any grid of patches."""

    def __init__(
        self, kind: str, grid: tuple[int, int], dim: int, leading: int, *, std: float = 1.0
    ) -> None:
        super().__init__()
        self.kind, self.grid, self.leading = kind, grid, leading
        if kind == "learned":
            drawn = torch.empty(leading + prod(grid), dim)
            self.table = nn.Parameter(nn.init.normal_(drawn, std=std))

    def forward(
        self, x: Float[Tensor, "batch token dim"], grid: tuple[int, int]
    ) -> Float[Tensor, "batch token dim"]:
        if self.kind == "none":
            return x
        return x + self.vectors(grid, x.shape[2]).to(x.device, x.dtype)

    def note(self, grid: tuple[int, int]) -> str:
        """A note on how positions are resampled for another grid; empty if they are not."""
        if grid == self.grid or self.kind == "none":
            return ""
        done = "interpolated" if self.kind == "learned" else "worked out anew"
        (rows, cols), (high, wide) = self.grid, grid
        return f"positions {done}: from {rows} × {cols} to {high} × {wide} patches"

    def vectors(self, grid: tuple[int, int], dim: int) -> Float[Tensor, "token dim"]:
        """What is added to the tokens of a grid: the class token's vector, then the patches'."""
        if self.kind == "none":
            return torch.zeros(self.leading + prod(grid), dim)
        if self.kind == "sinusoidal":
            return sinusoidal(self.leading + prod(grid), dim)
        if self.kind == "sincos2d":
            return F.pad(sincos_2d(*grid, dim), (0, 0, self.leading, 0))
        patches = interpolate_grid(self.table[self.leading :], self.grid, grid)
        return torch.cat([self.table[: self.leading], patches])


POSITIONS = ("sinusoidal", "learned", *RELATIVE, "none")
GRID_POSITIONS = ("learned", "sinusoidal", "sincos2d", "none")


def positions_of(kind: str, positions: int, dim: int) -> nn.Module:
    """The module that adds one of `POSITIONS` to the tokens; nothing for what attention adds."""
    if kind == "sinusoidal":
        return Sinusoidal()
    return Learned(positions, dim) if kind == "learned" else nn.Identity()
