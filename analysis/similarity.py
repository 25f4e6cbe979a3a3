"""Similarity of vectors, and distances of patches."""

import torch
from jaxtyping import Float
from torch import Tensor


def cosine(vectors: Float[Tensor, "position dim"]) -> Float[Tensor, "position position"]:
    """Cosine of the angle between every two vectors: (a·b) / (|a| |b|).

    Returns:
        −1 (opposite) to 1 (same direction); 0 is orthogonal. The similarity of a zero vector with
        anything is 0.
    """
    length = vectors.norm(dim=1, keepdim=True)
    unit = vectors / torch.where(length > 0, length, 1)
    return unit @ unit.T


def grid_distances(rows: int, cols: int) -> Float[Tensor, "position position"]:
    """Euclidean distance between the patches of a grid, in patches, numbered row by row."""
    at = torch.cartesian_prod(torch.arange(rows), torch.arange(cols)).reshape(-1, 2).float()
    return torch.cdist(at, at, compute_mode="donot_use_mm_for_euclid_dist")
