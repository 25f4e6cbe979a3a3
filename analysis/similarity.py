"""Similarity of vectors, and statistics of a pairwise matrix by distance."""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor


@dataclass(frozen=True, eq=False)
class ByDistance:
    """Values of many pairs, grouped by the distance of each pair.

    Attributes:
        distance: every distance that occurs, ascending.
        mean: over the pairs at that distance.
        low: their smallest value.
        high: their largest value. If low equals high, values depend on the distance alone.
    """

    distance: Float[Tensor, " distance"]
    mean: Float[Tensor, " distance"]
    low: Float[Tensor, " distance"]
    high: Float[Tensor, " distance"]


def cosine(vectors: Float[Tensor, "position dim"]) -> Float[Tensor, "position position"]:
    """Cosine of the angle between every two vectors: (a·b) / (|a| |b|).

    Returns:
        −1 (opposite) to 1 (same direction); 0 is orthogonal. The similarity of a zero vector with
        anything is 0.
    """
    length = vectors.norm(dim=1, keepdim=True)
    unit = vectors / torch.where(length > 0, length, 1)
    return unit @ unit.T


def by_distance(
    values: Float[Tensor, "row key"], distances: Float[Tensor, "row key"]
) -> ByDistance:
    """Mean, smallest and largest value at each distance."""
    valid = ~values.isnan()
    values, distances = values[valid], distances[valid]
    distance, group = distances.unique(return_inverse=True)
    empty = values.new_zeros(len(distance))
    mean, low, high = (
        empty.scatter_reduce(0, group, values, reduce=how, include_self=False)
        for how in ("mean", "amin", "amax")
    )
    return ByDistance(distance, mean, low, high)


def grid_distances(rows: int, cols: int) -> Float[Tensor, "position position"]:
    """Euclidean distance between the patches of a grid, in patches, numbered row by row."""
    at = torch.cartesian_prod(torch.arange(rows), torch.arange(cols)).reshape(-1, 2).float()
    return torch.cdist(at, at, compute_mode="donot_use_mm_for_euclid_dist")
