"""One pass over all weights of a site: pictures of every head, and what makes columns cheap."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from analysis.overview import Thumbnails, WeightSource
from models.trace import Site, Trace


@dataclass(frozen=True, eq=False)
class Survey:
    """What is kept of a pass.

    Attributes:
        thumbs: every head, then mean and max (see `Thumbnails`).
        log_totals: the logarithm of each softmax's denominator; None for weights that are not a
            plain softmax over tokens.
    """

    thumbs: Float[Tensor, "column row col"]
    log_totals: Float[Tensor, "head query"] | None


def survey(
    trace: WeightSource, site: Site, *, size: int, check: Callable[[], None] = lambda: None
) -> Survey:
    """One pass over the weights of a site, in blocks."""
    queries, keys = len(trace.query_labels(site)), len(trace.key_labels(site))
    small = Thumbnails(site.heads, queries, keys, size=size)
    totals: Tensor | None = torch.zeros(site.heads, queries)
    for block in trace.blocks(site):
        check()
        small.add(block)
        if block.scores is None or totals is None:
            totals = None
        else:
            totals[block.heads, block.rows] = block.log_totals().to(totals)
    return Survey(small.result(), totals)


def log_totals(trace: Trace, site: Site) -> Float[Tensor, "head query"] | None:
    """The logarithm of each softmax's denominator, as a survey keeps it."""
    return survey(trace, site, size=1).log_totals
