"""Queries and keys of a head on a plane."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from analysis.plane import principal
from analysis.similarity import evenly
from analysis.view import View
from models.attention import Additive, Bilinear, Score
from models.trace import Site, Trace

MOST = 512  # queries, and keys


@dataclass(frozen=True, eq=False)
class HeadVectors:
    """Queries and keys of one head on the two principal components of both together.

    Attributes:
        queries: a point each.
        keys: likewise.
        query_indices: which queries these are.
        key_indices: which keys.
        explained: share of the variance along each axis.
    """

    queries: Float[Tensor, "query 2"]
    keys: Float[Tensor, "key 2"]
    query_indices: tuple[int, ...]
    key_indices: tuple[int, ...]
    explained: tuple[float, float]


def head_vectors(
    trace: Trace | View, site: Site, head: int, *, most: int = MOST, item: int = 0
) -> HeadVectors:
    """Queries and keys of a head as they enter the dot product: rotated, normed, scaled.

    Of a bilinear score qᵀMk these are q and Mk, of an additive one the two sides of its hidden
    layer.

    A word of a view is the mean of its tokens. Of a longer text, evenly spread tokens are taken.

    Args:
        trace: of a text, or a view of one.
        site: one of its sites.
        head: of the site.
        most: queries, and keys.
        item: index in the batch.

    Raises:
        ValueError: for a head that is not there.
    """
    whole = trace.trace if isinstance(trace, View) else trace
    pattern = whole.pattern(whole.site(site))
    if not 0 <= head < pattern.heads:
        raise ValueError(f"head: expected 0 to {pattern.heads - 1}, received {head}")
    q, k = _compared(
        pattern.score,
        head,
        pattern.q[item, head].detach().float(),
        pattern.k[item, head // (pattern.heads // pattern.k.shape[1])].detach().float(),
    )
    both, chosen = [], []
    for vectors, direction, places in zip(
        (q, k), ("out", "in"), whole.positions(whole.site(site), item), strict=True
    ):
        groups = _groups(trace, site, direction, len(places))
        indices = evenly(len(groups), most).tolist()
        item_vectors = vectors[places.to(vectors.device)]
        both.append(torch.stack([item_vectors[list(groups[index])].mean(0) for index in indices]))
        chosen.append(tuple(indices))
    points, explained = principal(torch.cat(both).cpu())
    queries, keys = chosen
    return HeadVectors(points[: len(queries)], points[len(queries) :], queries, keys, explained)


def _compared(score: Score, head: int, q: Tensor, k: Tensor) -> tuple[Tensor, Tensor]:
    """Vectors of one width each, whose product or sum makes the score."""
    if isinstance(score, Bilinear):
        matrix = score.matrix if score.matrix.ndim == 2 else score.matrix[head]
        return q, k @ matrix.detach().float().T
    if isinstance(score, Additive):
        of_q, of_k = score.hidden(q, k)
        return of_q.detach(), of_k.detach()
    return q, k


def _groups(trace: Trace | View, site: Site, direction: str, count: int) -> Sequence[Sequence[int]]:
    """The tokens of each row or column."""
    if isinstance(trace, View):
        return trace.origins(site, direction)
    return [(place,) for place in range(count)]
