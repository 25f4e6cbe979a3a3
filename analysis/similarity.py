"""Similarity of vectors, of heads, and statistics of a pairwise matrix by distance."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from analysis.plane import scaled
from analysis.view import View
from models.progress import Progress, each, no_progress
from models.trace import Site, Trace

ROWS = 256  # rows that heads are compared on, at most
FEWEST_ROWS = 4
WORK = 2**29  # weights of pairs of heads that are compared, at most, by comparing fewer rows


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
    """Mean, smallest and largest value at each distance.

    Args:
        values: one number per pair; NaN is ignored.
        distances: the distance of each pair.
    """
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


# --- heads ------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class HeadMap:
    """All heads that attend over the same tokens, on a plane: near each other if they attend alike.

    Attributes:
        points: of every site and head; NaN for heads over other tokens.
        rows: the queries that they were compared on.
        explained: share of the squared distances that the plane shows, 0 to 1.
    """

    points: Float[Tensor, "site head 2"]
    rows: tuple[int, ...]
    explained: float


def head_map(trace: Trace | View, *, progress: Progress = no_progress) -> HeadMap:
    """Heads on a plane by their Jensen–Shannon distance; those of most sites with equal tokens.

    Args:
        trace: of a text, or a view of one.
        progress: called before each row that is compared and after the last; an exception ends it.
    """
    sites = _comparable(trace)
    count, keys = len(trace.queries(sites[0])[0]), len(trace.keys(sites[0])[0])
    heads = sum(site.heads for site in sites)
    affordable = WORK // (max(1, heads * (heads - 1) // 2) * keys)
    rows = evenly(count, min(ROWS, max(FEWEST_ROWS, affordable)))
    weights = torch.cat([_with_sink(trace, site, rows) for site in sites])
    placed, explained = scaled(head_distances(weights, progress))
    points = torch.full((len(trace.sites), max(s.heads for s in trace.sites), 2), math.nan)
    parts = iter(placed.split([site.heads for site in sites]))
    for index, site in enumerate(trace.sites):
        if site in sites:
            points[index, : site.heads] = next(parts)
    return HeadMap(points, tuple(rows.tolist()), explained)


def _with_sink(
    trace: Trace | View, site: Site, rows: Int[Tensor, " row"]
) -> Float[Tensor, "head row key"]:
    """Rows of every head, with the sinks of their softmax as one more key: then they sum to 1."""
    weights, sink = trace.weights(site, rows=rows), trace.sink_weights(site)
    last = torch.zeros_like(weights[..., 0]) if sink is None else sink[:, rows]
    return torch.cat([weights, last[..., None]], -1)


def _comparable(trace: Trace | View) -> Sequence[Site]:
    """The sites over the same tokens that have the most heads; the first of several."""
    groups: dict[tuple[int, int], list[Site]] = {}
    for site in trace.sites:
        if site.kind in ("self", "causal", "cross"):
            same = id(trace.queries(site)[0]), id(trace.keys(site)[0])
            groups.setdefault(same, []).append(site)
    return max(groups.values(), key=lambda group: sum(site.heads for site in group))


def evenly(count: int, most: int) -> Int[Tensor, " place"]:
    """At most so many of `count` places, the first and the last among them."""
    return torch.linspace(0, count - 1, min(count, max(1, most))).round().long()


def head_distances(
    weights: Float[Tensor, "head row key"], progress: Progress = no_progress
) -> Float[Tensor, "head head"]:
    """The Jensen–Shannon distance between every two heads.

        √(mean over rows of H((p + q) / 2) − (H(p) + H(q)) / 2),   H in bits

    Returns:
        0 for heads with equal weights, 1 for heads that share no key. It is a metric.

    Source: Endres and Schindelin 2003, "A New Metric for Probability Distributions".
    """
    weights = weights.float().cpu()
    heads, rows, _ = weights.shape
    entropies = torch.special.entr(weights).sum(-1)
    divergence = torch.zeros(heads, heads)
    for row in each(range(rows), progress):
        own_row = weights[:, row]
        for head in range(heads - 1):
            mixed = (own_row[head + 1 :] + own_row[head]).mul_(0.5)
            entropy = -(mixed.clamp(min=1e-38).log_().mul_(mixed)).sum(-1)
            distances = entropy - (entropies[head, row] + entropies[head + 1 :, row]) / 2
            divergence[head, head + 1 :] += distances
    mean = (divergence + divergence.T) / rows / math.log(2)
    return mean.clamp(min=0.0).sqrt()
