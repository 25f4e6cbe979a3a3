"""The row of a head with the most concentrated weights: a place to begin with a new text."""

from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jaxtyping import Float
    from torch import Tensor

    from analysis.overview import Head
    from analysis.view import View
    from models.trace import Site, Trace

MOST = 512  # rows compared, evenly spaced over longer texts


def sharpest_row(
    view: "Trace | View", site: "Site", head: "Head", among: "Sequence[int] | None" = None
) -> int | None:
    """The row furthest from uniform weights, by KL divergence: ln(n) − H nats.

    n is the number of keys with a weight, H the entropy of the row. Rows of equal n, as in an
    encoder, are thus compared by entropy alone; of a causal row only the keys it sees count, so
    that the first one, which can only attend to itself, is not the sharpest. Rows of the
    tokenizer's special tokens are left out where there are others; those of a combination of heads
    ("mean", "max") are rows of the mean.

    Args:
        view: of the weights.
        site: the layer.
        head: a head, or a combination of all.
        among: rows to choose from; None for all.

    Returns:
        The index of the row; None if every row has at most one key.
    """
    special = view.queries(site)[0].special
    every = list(range(len(special)) if among is None else among)
    rows = [row for row in every if not special[row]] or every
    chosen = torch.linspace(0, len(rows) - 1, min(MOST, len(rows))).round().long().tolist()
    rows = [rows[place] for place in chosen]
    weights = view.weights(site, head if isinstance(head, int) else None, rows=rows)
    weights = weights if isinstance(head, int) else weights.mean(0)
    gain = sharpness(weights)
    return rows[int(gain.argmax())] if float(gain.max()) >= 0 else None


def sharpness(weights: "Float[Tensor, '*head row key']") -> "Float[Tensor, '*head row']":
    """ln(n) − H of each row divided by its sum, in nats; −1 for one with fewer than two keys."""
    sums = weights.sum(-1, keepdim=True)
    weights = weights / sums.where(sums > 0, 1.0)
    keys = (weights > 0).sum(-1)
    gain = keys.clamp_min(1).log() - torch.special.entr(weights).sum(-1)
    return gain.clamp_min(0).where(keys > 1, -1.0)
