"""Checks rows of attention weights: non-negative, and summing to 1."""

from dataclasses import dataclass

import torch

from models.trace import Site, Trace

MOST = 2**22  # weights computed for one check
ROUNDING = 1e-5  # float32 rounding error of a sum of thousands of weights


@dataclass(frozen=True)
class RowCheck:
    """Row counts over all heads of a site.

    Attributes:
        rows: number of rows checked.
        total: number of rows in all.
        whole: rows that sum to 1.
        empty: all-zero rows: queries with no key to attend to.
        odd: rows with a weight below 0 or a sum above 1, which a softmax cannot produce.
    """

    rows: int
    total: int
    whole: int
    empty: int
    odd: int


def check_rows(trace: Trace, site: Site, *, most: int = MOST) -> RowCheck:
    """Checks every row, or an evenly spaced sample where there are too many.

    Args:
        trace: the forward pass.
        site: the attention call.
        most: maximum number of weights to compute.
    """
    count, keys = len(trace.query_labels(site)), len(trace.key_labels(site))
    few = max(1, min(count, most // (site.heads * keys)))
    chosen = torch.linspace(0, count - 1, few).round().long()
    weights = trace.weights(site, rows=chosen)
    sums = weights.double().sum(-1)
    empty, below = sums == 0, (weights < 0).any(-1)
    return RowCheck(
        rows=sums.numel(),
        total=site.heads * count,
        whole=int(((sums - 1).abs() <= ROUNDING).sum()),
        empty=int(empty.sum()),
        odd=int((below | (sums > 1 + ROUNDING)).sum()),
    )
