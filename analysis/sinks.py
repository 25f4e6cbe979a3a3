"""Weights without the attention sinks: the keys that take the weight of a head at rest.

Source: Xiao et al. 2023 (StreamingLLM), section 3.1, for the first token; Clark et al. 2019,
section 3.2, for separators; Sun et al. 2024, "Massive Activations in Large Language Models",
section 4, for tokens within the text.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from analysis.overview import Derived, Head, RowSource, blocks_by_head, combine
from analysis.view import View
from models.trace import Rows, Site, Trace

MOST = 0.5  # of a row, on average: a head that gives more to one key rests on it


def sinks_of(view: Trace | View, site: Site) -> tuple[int, ...]:
    """The keys of a site that are counted as sinks: the first token and the special ones.

    A text of special tokens alone has its first token only.
    """
    tokens = view.keys(site)[0]
    has_first = not isinstance(view, View) or 0 in view.origins(site, "in")[0]
    first = (0,) if has_first else ()
    special = tuple(place for place, special in enumerate(tokens.special) if special)
    return first if len(special) == len(tokens) else tuple(sorted({*first, *special}))


def resting_keys(source: RowSource, site: Site) -> tuple[int, ...]:
    """The keys on which a head of a layer rests: over half of its weight goes to one of them.

    The share is the mean over the rows that see the key, which are at least half of all rows.
    """
    shape = (site.heads, len(source.key_labels(site)))
    total, seen = torch.zeros(shape), torch.zeros(shape)
    for block in blocks_by_head(source, site, None):
        weights = block.weights.cpu()
        total[block.heads, block.keys] += weights.sum(1)
        seen[block.heads, block.keys] += (weights > 0).sum(1)
    rests = _rests(total, seen, len(source.query_labels(site)))
    return tuple(rests.any(0).nonzero().flatten().tolist())


def resting_on(matrix: Float[Tensor, "query key"]) -> tuple[int, float] | None:
    """The key on which a matrix of non-negative numbers rests, and its share; None without one.

    The share is that of a row's sum: the mean over the rows that see the key, which are at least
    half of all, and over a half.
    """
    shares = matrix / matrix.sum(1, keepdim=True).clamp_min(torch.finfo(matrix.dtype).tiny)
    total, seen = shares.sum(0), (shares > 0).sum(0)
    mean = torch.where(_rests(total, seen, len(matrix)), total / seen.clamp_min(1), 0)
    key = int(mean.argmax())
    return (key, float(mean[key])) if mean[key] > 0 else None


def _rests(total: Tensor, seen: Tensor, rows: int) -> Tensor:
    """Whether a key has over `MOST` of the rows that see it, which are at least half of all."""
    return (total > MOST * seen) & (2 * seen >= rows)


@dataclass(frozen=True, eq=False)
class WithoutSinks(Derived):
    """A source of weights with its sinks hidden: their columns are zero.

    Attributes:
        sinks: by site, the keys that are hidden.
    """

    sinks: dict[Site, tuple[int, ...]]

    def weights(
        self,
        layer: int | Site,
        head: int | None = None,
        *,
        rows: Rows = None,
    ) -> Float[Tensor, "*head query key"]:
        """As those of the source; `layer` is one of the sites."""
        if isinstance(layer, int):
            raise ValueError(f"layer: expected a site, received {layer}")
        weights = self.source.weights(layer, head, rows=rows)
        weights = weights.clone()
        weights[..., list(self.sinks[layer])] = 0
        return weights

    def shares(self, site: Site, head: Head, rows: range) -> Float[Tensor, " row"]:
        """The weight that each row gives to the sinks: 0 to 1.

        Of "mean" and "max" it is the mean and the largest over the heads.
        """
        one = head if isinstance(head, int) else None
        first = 0 if one is None else one
        given = torch.zeros(site.heads if one is None else 1, len(rows))
        for block in blocks_by_head(self.source, site, one, rows):
            start, stop = block.keys.start, block.keys.stop
            keys = [key - start for key in self.sinks[site] if start <= key < stop]
            heads = slice(block.heads.start - first, block.heads.stop - first)
            places = slice(block.rows.start - rows.start, block.rows.stop - rows.start)
            given[heads, places] = block.weights[..., keys].sum(-1).to(given)
        return given[0] if isinstance(head, int) else combine(given[..., None], head)[:, 0]
