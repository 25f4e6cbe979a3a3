"""What filters of a picture leave: the strongest keys of each row, and the share of weight hidden.

Filters act on what is drawn, never on the weights: nothing is renormalised.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from analysis.overview import Head, RowSource, rows_of
from models.attention.blocks import CACHE_BYTES
from models.trace import Site

MOST = 2**22  # weights looked at for one share; of more, evenly spaced rows


@dataclass(frozen=True)
class Hidden:
    """The share of weight that is not drawn.

    Attributes:
        share: of the weight of these rows over all keys, 0 to 1; 0 for rows without weight.
        rows: how many rows were looked at.
        total: how many there are.
    """

    share: float
    rows: int
    total: int


def strongest(
    trace: RowSource, site: Site, head: Head, rows: range, keys: range, count: int
) -> Int[Tensor, "row rank"]:
    """The keys of a range with the largest weights of each row, the largest first.

    Of equal weights the first key comes first. Weights of 0 count like others.
    """
    few = min(count, len(keys))
    blocks = [
        _ranked(rows_of(trace, site, head, block)[:, keys.start : keys.stop], few)
        for block in _blocks(site, rows)
    ]
    return torch.cat(blocks) + keys.start


def hidden(
    trace: RowSource,
    site: Site,
    head: Head,
    rows: range,
    keys: range,
    *,
    least: float = 0.0,
    top: int | None = None,
    most: int = MOST,
) -> Hidden:
    """The share of the weight of some rows that filters hide.

    Drawn are weights of at least `least` to the keys of the range, and of those only the `top`
    largest of each row.

    Args:
        trace: the weights.
        site: the attention layer.
        head: its head.
        rows: queries that are drawn.
        keys: keys that are drawn; what the rows give to others is hidden.
        least: smallest weight that is drawn.
        top: how many keys of each row are drawn; None for all.
        most: weights to look at; of more, evenly spaced rows are taken.
    """
    few = max(1, min(len(rows), most // (site.heads * site.keys)))
    chosen = torch.linspace(rows.start, rows.stop - 1, few).round().long().tolist()
    whole = drawn = 0.0
    for block in _blocks(site, range(few)):
        weights = rows_of(trace, site, head, [chosen[place] for place in block])
        part = weights[:, keys.start : keys.stop]
        kept = part >= least
        if top is not None:
            ranked = _ranked(part, min(top, len(keys)))
            kept &= torch.zeros_like(kept).scatter(1, ranked, True)
        whole += float(weights.sum(dtype=torch.float64))
        drawn += float((part * kept).sum(dtype=torch.float64))
    return Hidden(max(0.0, 1 - drawn / whole) if whole else 0.0, few, len(rows))


def _ranked(weights: Float[Tensor, "row key"], count: int) -> Int[Tensor, "row rank"]:
    return weights.sort(dim=-1, descending=True, stable=True).indices[:, :count]


def _blocks(site: Site, rows: range) -> list[range]:
    """Ranges of rows whose weights, over all heads, stay under CACHE_BYTES."""
    step = max(1, CACHE_BYTES // (4 * site.heads * site.keys))
    return [rows[start : start + step] for start in range(0, len(rows), step)]
