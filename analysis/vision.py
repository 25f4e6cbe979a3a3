"""The figures of the vision-transformer papers, as tensors.

Mean attention distance and entropy, outliers among norms, principal components of patch features,
patch similarity, and mass masks.
"""

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from models.trace import PatchGrid, Site, Trace

BLOCK = 128  # rows of weights at a time
DEVIATIONS = 10.0  # of the median absolute deviation, above which a token is an outlier


def attention_distance(trace: Trace, site: Site, *, item: int = 0) -> Float[Tensor, " head"]:
    """Mean distance between a patch and the patches it attends to, in patches, in each head.

    For each patch, the distances to all patches are averaged with its weights; then over patches.
    Weights on the class token and registers are left out and the rest renormalised, so that a
    head's distance does not shrink with the share that these tokens take.

    Source: Dosovitskiy et al. 2021, appendix D.7 and figure 11.

    Args:
        trace: of a picture.
        site: self-attention among its patches.
        item: index in the batch.

    Returns:
        From 0 (every patch attends to itself) to the diagonal of the grid; of uniform attention
        over 14 × 14 patches 7.2808, which is 116.4922 pixels where they have 16. NaN for a head
        that attends to no patch.

    Raises:
        ValueError: for rows or columns that are no patches of one image.
    """
    grid = _square_grid(trace, site)
    patches = slice(grid.prefix, grid.prefix + grid.rows * grid.cols)
    apart = grid_distances(grid.rows, grid.cols)
    blocks = torch.arange(len(apart)).split(BLOCK)
    weights = (trace.weights(site, rows=grid.prefix + rows, item=item) for rows in blocks)
    far = [
        patch_distances(block[..., patches], apart[rows])
        for block, rows in zip(weights, blocks, strict=True)
    ]
    return torch.cat(far, -1).nanmean(-1).float().cpu()


def patch_distances(
    weights: Float[Tensor, "*head patch key"], apart: Float[Tensor, "patch key"]
) -> Float[Tensor, "*head patch"]:
    """The mean distance of what each patch attends to; NaN where it attends to no patch."""
    return (weights * apart.to(weights)).sum(-1).double() / weights.sum(-1).double()


def attention_entropy(trace: Trace, site: Site, *, item: int = 0) -> Float[Tensor, " head"]:
    """Mean entropy of the rows of each head, in nats.

    Returns:
        From 0 (every token attends to one) to the logarithm of the number of keys.
    """
    total = torch.zeros(site.heads, dtype=torch.float64)
    for block in trace.blocks(site, item=item):
        total[block.heads] += block.entropy().sum(-1).double().cpu()
    if (sink := trace.sink_weights(site, item)) is not None:  # one more key
        total += torch.special.entr(sink).sum(-1).cpu()
    return (total / len(trace.queries(site)[item])).float()


def outliers(
    norms: Float[Tensor, "*layer token"], deviations: float = DEVIATIONS
) -> Bool[Tensor, "*layer token"]:
    """Tokens with a norm above median + `deviations` · MAD of their layer.

    MAD is the median of the absolute deviations from the median: robust against the outliers
    themselves. Such tokens are the "registers" of Darcet et al. 2024, who use a fixed threshold.
    """
    middle = norms.median(-1, keepdim=True).values
    spread = (norms - middle).abs().median(-1, keepdim=True).values
    return norms > middle + deviations * spread


def feature_colours(
    features: Float[Tensor, "patch dim"],
) -> tuple[Float[Tensor, "patch 3"], Float[Tensor, " 3"]]:
    """Patch features by their first three principal components, as red, green and blue.

    Each component is scaled to 0 to 1; its sign is arbitrary. Beside the colours stands the share
    of the variance in each component.

    Source: Oquab et al. 2023 (DINOv2), figure 1.

    Raises:
        ValueError: for fewer than 4 patches.
    """
    every = features.detach().float()
    if len(every) < 4:
        raise ValueError(f"expected at least 4 patches, received {len(every)}")
    axes, explained = _components(every)
    projected = (every - every.mean(0)) @ axes.T
    low, high = projected.amin(0), projected.amax(0)
    return (projected - low) / torch.where(high > low, high - low, 1), explained


def patch_similarity(features: Float[Tensor, "patch dim"], patch: int) -> Float[Tensor, " patch"]:
    """Cosine similarity of one patch's feature with every patch's, from −1 to 1."""
    if not 0 <= patch < len(features):
        raise ValueError(f"patch: expected 0 to {len(features) - 1}, received {patch}")
    return cosine(features.detach().float())[patch]


def _components(
    rows: Float[Tensor, "row dim"],
) -> tuple[Float[Tensor, "component dim"], Float[Tensor, " component"]]:
    """The three largest principal components, and the share of the variance in each.

    Of each, the number that is largest in size is positive.
    """
    centred = rows - rows.mean(0)
    _, sizes, axes = torch.linalg.svd(centred, full_matrices=False)
    largest = axes.gather(1, axes.abs().argmax(1, keepdim=True))
    axes = axes * torch.where(largest < 0, -1.0, 1.0)
    variance = sizes.square()
    total = variance.sum()
    return axes[:3], (variance / torch.where(total > 0, total, 1))[:3]


def _square_grid(trace: Trace, site: Site) -> PatchGrid:
    """The grid of both axes of a site."""
    rows, cols = trace.query_grid(site), trace.key_grid(site)
    if rows is None or rows != cols or rows.frames > 1:
        raise ValueError(
            f"layer {site.layer}: expected self-attention among the patches of one image"
        )
    return rows


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
