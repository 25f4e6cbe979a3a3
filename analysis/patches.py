"""Attention of all heads over a grid of patches, pooled where it is too large to send.

With a factor f, each cell covers f × f patches. On the query axis a cell is represented by its
central patch; on the key axis it has the largest weight of its patches. Prefix tokens (class token,
registers) are not pooled. Keys beyond the picture, with which some networks fill up their last
windows, are left out.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor

from analysis.sinks import MOST
from analysis.vision import outliers as outlying
from models.attention.blocks import CACHE_BYTES
from models.trace import Site, Trace

PERCENTILE = 99  # of the patches, where a scale ends beside a sink


def representatives(grid: tuple[int, int], prefix: int, factor: int) -> Int[Tensor, " query"]:
    """The tokens that represent the cells: the prefix, then the central patch of every cell."""
    rows, cols = (
        torch.tensor([min(i + factor // 2, size - 1) for i in range(0, size, factor)])
        for size in grid
    )
    patches = rows[:, None] * grid[1] + cols[None]
    return torch.cat([torch.arange(prefix), prefix + patches.flatten()])


def pool_keys(
    weights: Float[Tensor, "head query key"], grid: tuple[int, int], prefix: int, factor: int
) -> Float[Tensor, "head query cell"]:
    """The largest weight in each cell of keys."""
    if factor == 1:
        return weights
    patches = weights[..., prefix:].unflatten(-1, grid)
    pooled = F.max_pool2d(patches, factor, ceil_mode=True)
    return torch.cat([weights[..., :prefix], pooled.flatten(-2)], -1)


def layer_cells(trace: Trace, site: Site, factor: int) -> Float[Tensor, "head query cell"]:
    """The weights of all heads of a site, pooled to cells; every weight with factor 1."""
    grid, prefix = grid_of(trace, site)
    if factor == 1:
        return trace.weights(site)[..., : site.queries]
    chosen = representatives(grid, prefix, factor)
    step = max(1, CACHE_BYTES // (4 * site.heads * site.keys))
    blocks = [
        pool_keys(trace.weights(site, rows=rows)[..., : site.queries], grid, prefix, factor)
        for rows in chosen.split(step)
    ]
    return torch.cat(blocks, 1)


def resting_cells(cells: Float[Tensor, "head query cell"], prefix: int) -> Bool[Tensor, " cell"]:
    """The cells of patches on which a head of a layer rests: over half of a row on average."""
    rests = (cells.mean(1) > MOST).any(0)
    rests[:prefix] = False
    return rests


def shared_top(
    trace: Trace, site: Site, largest: Float[Tensor, " patch"], factor: int
) -> tuple[float, bool]:
    """The weight that has the last colour on the scale that the heads of a layer share.

    It is the largest weight on a patch, of what a token gives in the head that gives most. Beside a
    sink, sought in cells of `factor`, which would leave all others dark, it is the 99th percentile.

    Returns:
        The weight, and whether it is the percentile.
    """
    (rows, cols), prefix = grid_of(trace, site)
    cells = resting_cells(layer_cells(trace, site, factor), prefix)[prefix:]
    grid = cells.unflatten(0, (-(-rows // factor), -(-cols // factor)))
    spread = grid.repeat_interleave(factor, 0).repeat_interleave(factor, 1)[:rows, :cols]
    below = float(largest.sort().values[PERCENTILE * (len(largest) - 1) // 100])
    beside = below > 0 and bool((largest[spread.flatten()] > below).any())
    return (below if beside else float(largest.max())), beside


@dataclass(frozen=True, eq=False)
class PatchSinks:
    """Attention sinks of a picture.

    Attributes:
        keys: the sinks.
        shares: mean weight of a row on them, by head.
    """

    keys: tuple[int, ...]
    shares: Float[Tensor, " head"]


def patch_sinks(
    trace: Trace, site: Site, *, outliers: bool = False, check: Callable[[], None] = lambda: None
) -> PatchSinks:
    """The class token and registers and, if wanted, the patches that stand in for such.

    A patch is an outlier if the weight it receives, averaged over all queries and heads, is above
    median + 10 · MAD of all patches. It may also hold what the network looks for.

    Source: Xiao et al. 2023 for sinks; Darcet et al. 2024 for patches used as registers, who find
    them by the norm of their hidden states.
    """
    _, prefix = grid_of(trace, site)

    def blocks() -> Iterator[Float[Tensor, "head row key"]]:
        step = max(1, CACHE_BYTES // (4 * site.heads * site.keys))
        for start in range(0, site.queries, step):
            rows = range(start, min(start + step, site.queries))
            check()
            yield trace.weights(site, rows=rows)[..., : site.queries].cpu()

    keys = torch.arange(prefix)
    if outliers:
        received = torch.stack([block.sum((0, 1)).double() for block in blocks()]).sum(0)
        keys = torch.cat([keys, prefix + outlying(received[prefix:]).nonzero().flatten()])
    shares = torch.stack([weights[..., keys].sum((1, 2)) for weights in blocks()]).sum(0)
    return PatchSinks(tuple(keys.tolist()), shares / site.queries)


def grid_of(trace: Trace, site: Site) -> tuple[tuple[int, int], int]:
    """Rows and columns of a site's patches, and the number of tokens before them.

    Raises:
        ValueError: if the site does not attend from all patches of one grid to the same.
    """
    if trace.grid is None:
        raise ValueError("expected the trace of a picture, received one of a text")
    grid, keys = trace.query_grid(site), trace.key_grid(site)
    count = 0 if grid is None else grid.prefix + grid.rows * grid.cols
    if grid is None or grid != keys or grid.frames > 1 or not count == site.queries <= site.keys:
        raise ValueError(f"layer: layer {site.layer} does not attend over all patches")
    return (grid.rows, grid.cols), grid.prefix
