"""Weights of all heads over a grid of patches, taken together where there are too many to send.

With a factor f, f × f patches are one cell. A cell of queries is represented by the patch in its
middle; a cell of keys has its largest weight. The prefix (class token, registers) stays as it is.
"""

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor

from models.trace import Site, Trace

BLOCK_BYTES = 2**25


def representatives(grid: tuple[int, int], prefix: int, factor: int) -> Int[Tensor, " query"]:
    """The tokens that stand for the cells: the prefix, then the middle patch of every cell."""
    rows, cols = (
        torch.tensor([min(i + factor // 2, size - 1) for i in range(0, size, factor)])
        for size in grid
    )
    patches = rows[:, None] * grid[1] + cols[None]
    return torch.cat([torch.arange(prefix), prefix + patches.flatten()])


def pool_keys(
    weights: Float[Tensor, "head query key"], grid: tuple[int, int], prefix: int, factor: int
) -> Float[Tensor, "head query cell"]:
    """The largest weight in every cell of keys."""
    if factor == 1:
        return weights
    patches = weights[..., prefix:].unflatten(-1, grid)
    pooled = F.max_pool2d(patches, factor, ceil_mode=True)
    return torch.cat([weights[..., :prefix], pooled.flatten(-2)], -1)


def layer_cells(trace: Trace, site: Site, factor: int) -> Float[Tensor, "head query cell"]:
    """All heads of a site, cell by cell; with factor 1 every weight."""
    grid, prefix = grid_of(trace)
    if factor == 1:
        return trace.weights(site.layer, kind=site.kind)
    chosen = representatives(grid, prefix, factor)
    step = max(1, BLOCK_BYTES // (4 * site.heads * site.keys))
    blocks = [
        pool_keys(trace.weights(site.layer, kind=site.kind, rows=rows), grid, prefix, factor)
        for rows in chosen.split(step)
    ]
    return torch.cat(blocks, 1)


def heads_of_query(trace: Trace, site: Site, query: int) -> Float[Tensor, "head key"]:
    """What one query gives to every key, in each head."""
    return trace.weights(site.layer, kind=site.kind, rows=range(query, query + 1))[:, 0]


def heads_of_key(trace: Trace, site: Site, key: int) -> Float[Tensor, "head query"]:
    """What every query gives to one key, in each head; holds only some rows at once."""
    step = max(1, BLOCK_BYTES // (4 * site.heads * site.keys))
    blocks = [
        trace.weights(site.layer, kind=site.kind, rows=slice(start, start + step))[..., key]
        for start in range(0, site.queries, step)
    ]
    return torch.cat(blocks, 1)


def grid_of(trace: Trace) -> tuple[tuple[int, int], int]:
    """Rows and columns of patches, and how many tokens come before them.

    Raises:
        ValueError: if the trace is not one of a picture.
    """
    if trace.grid is None:
        raise ValueError("expected the trace of a picture, received one of a text")
    return trace.grid, trace.prefix
