"""Scores before the softmax, read as weights are."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import torch
from jaxtyping import Float
from torch import Tensor

from analysis.overview import Derived
from analysis.view import JOINT, View
from models.attention.pattern import positions
from models.trace import Rows, Site, Trace

HIDDEN = -3e4  # networks that mask with a large negative number use less than this


@dataclass(frozen=True, eq=False)
class Scores(Derived):
    """A source whose `weights` are scores: after scale, cap, bias and temperature; −∞ where masked.

    Attributes:
        source: a trace, or a view; only sites that have scores can be read.
        hidden: by site, keys that count as masked.
    """

    source: Trace | View
    hidden: Mapping[Site, tuple[int, ...]] = field(default_factory=dict)

    def weights(
        self,
        layer: int | Site,
        head: int | None = None,
        *,
        rows: Rows = None,
    ) -> Float[Tensor, "*head query key"]:
        view = self.source
        site = view.site(layer)
        if not has_scores(view, site):
            raise ValueError("expected single tokens: a word of several has no score")
        if isinstance(view, View):
            queries = [group[0] for group in view.origins(site, "out")]
            keys = [group[0] for group in view.origins(site, "in")]
            rows = [queries[row] for row in positions(rows, len(queries)).tolist()]
            scores = view.trace.scores(site, head, rows=rows)[..., keys]
        else:
            scores = view.scores(site, head, rows=rows)
        # whatever number the network masks them with
        scores = scores.masked_fill(scores <= HIDDEN, -torch.inf)
        scores[..., list(self.hidden.get(site, ()))] = -torch.inf
        return scores


def has_scores(view: Trace | View, site: Site) -> bool:
    """Whether each row and column of a site is one token, of one attention call.

    A word of several tokens has weights, but no score; a joint map has two softmaxes.
    """
    if not isinstance(view, View):
        return True
    groups = (*view.origins(site, "out"), *view.origins(site, "in"))
    return site.kind != JOINT and all(len(group) == 1 for group in groups)
