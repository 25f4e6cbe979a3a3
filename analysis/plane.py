"""Points on a plane: classical scaling of distances.

The sign of an axis is arbitrary; here the entry with the largest magnitude is positive, so that the
same numbers always give the same picture.
"""

import torch
from jaxtyping import Float
from torch import Tensor


def scaled(
    distances: Float[Tensor, "point point"],
) -> tuple[Float[Tensor, "point 2"], float]:
    """Points on a plane whose distances come close to those given (classical scaling).

    Returns:
        The points, and the share of the positive eigenvalues that the plane keeps.

    Source: Torgerson 1952, "Multidimensional scaling: I. Theory and method".
    """
    squares = distances.double().square()
    centred = squares - squares.mean(0, keepdim=True) - squares.mean(1, keepdim=True)
    products = -(centred + squares.mean()) / 2
    values, vectors = torch.linalg.eigh(products)
    values, vectors = values.flip(0).clamp(min=0.0), vectors.flip(1)
    points = vectors * values.sqrt() * _signs(vectors)
    total = float(values.sum())
    return _two(points).float(), float(values[:2].sum()) / total if total else 0.0


def _signs(columns: Float[Tensor, "entry axis"]) -> Float[Tensor, " axis"]:
    """−1 for a column whose entry of the largest magnitude is negative, else 1."""
    largest = columns.gather(0, columns.abs().argmax(0, keepdim=True))[0]
    return torch.where(largest < 0, -1.0, 1.0).to(columns.dtype)


def _two(points: Float[Tensor, "point axis"]) -> Float[Tensor, "point 2"]:
    """The first two axes; zeros for those that are not there."""
    return torch.cat([points, points.new_zeros(len(points), 2)], dim=1)[:, :2]
