"""Rotations by position (rotary embeddings), read off queries and keys before and after them.

Families differ in the angles, in the pairs that are rotated together, and in how many features are
rotated at all. Whatever they do, a rotation by position is the same in every head and keeps the
length of every pair: two vectors, before and after, tell the angles, and the rest checks them.
"""

from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

Heads = Float[Tensor, "head token dim"]


class Rotation(NamedTuple):
    """A rotation of pairs of features by position.

    Attributes:
        angles: by position and pair.
        width: number of features that are rotated, the first ones.
        neighbours: whether feature 2i goes with 2i + 1, not i with i + width/2.
    """

    angles: Float[Tensor, "token pair"]
    width: int
    neighbours: bool

    def __call__(self, x: Float[Tensor, "*head token dim"]) -> Float[Tensor, "*head token dim"]:
        turned = torch.polar(torch.ones_like(self.angles), self.angles)
        first, second = _pairs(x.double(), self.width, self.neighbours)
        product = torch.complex(first, second) * turned
        parts = torch.stack([product.real, product.imag], -1 if self.neighbours else -2).flatten(-2)
        return torch.cat([parts, x[..., self.width :].double()], -1).to(x.dtype)


def alike(a: Tensor, b: Tensor) -> bool:
    """Equal but for rounding, relative to the largest number."""
    if a.shape != b.shape:
        return False
    wide = 1e-4 if b.dtype in (torch.float32, torch.float64) else 3e-2
    scale = float(b.abs().max()) if b.numel() else 0.0
    return bool((a - b).abs().amax() <= wide * scale) if scale else not a.any()


def rotation_between(before: Heads, after: Heads) -> Rotation | None:
    """The rotation by position, the same in every head, that turns the one into the other."""
    dim = before.shape[2]
    moved = (before - after).abs().amax((0, 1)) > 1e-4 * after.abs().max()
    last = int(moved.nonzero().max()) + 1 if moved.any() else 0
    for width in range(dim - dim % 2, max(0, last - 1), -2):
        for neighbours in (False, True):
            rotation = _fitted(before, after, width, neighbours)
            if alike(rotation(before), after):
                return rotation
    return None


def _fitted(before: Heads, after: Heads, width: int, neighbours: bool) -> Rotation:
    a, b = (torch.complex(*_pairs(x.double(), width, neighbours)) for x in (before, after))
    return Rotation((a.conj() * b).sum(0).angle(), width, neighbours)


def _pairs(x: Tensor, width: int, neighbours: bool) -> tuple[Tensor, Tensor]:
    """The first and second features of the pairs that are rotated together."""
    rotated = x[..., :width]
    if neighbours:
        return rotated[..., 0::2], rotated[..., 1::2]
    first, second = rotated.chunk(2, dim=-1)
    return first, second
