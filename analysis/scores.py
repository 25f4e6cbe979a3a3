"""Scores before the softmax, read as weights are."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import torch
from jaxtyping import Float
from torch import Tensor

from analysis.view import View
from models.attention.pattern import positions
from models.trace import Rows, Site, Trace

HIDDEN = -3e4  # networks that mask with a large negative number use less than this


@dataclass(frozen=True, eq=False)
class Scores:
    """A source whose `weights` are scores: after scale, cap, bias and temperature; −∞ where masked.

    Attributes:
        shown: a trace, or a view of single tokens.
        hidden: by site, keys that count as masked.
    """

    shown: Trace | View
    hidden: Mapping[Site, tuple[int, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if has_joined_tokens(self.shown):
            raise ValueError("scores are of single tokens: a word of several has none")

    def weights(
        self,
        layer: int | Site,
        head: int | None = None,
        *,
        kind: str | None = None,
        tower: str | None = None,
        rows: Rows = None,
        item: int = 0,
    ) -> Float[Tensor, "*head query key"]:
        trace = self.shown.trace if isinstance(self.shown, View) else self.shown
        site = trace.site(layer, kind, tower)
        if isinstance(self.shown, View):
            own = [group[0] for group in self.shown.origins(site, "out")]
            keys = [group[0] for group in self.shown.origins(site, "in")]
            rows = [own[row] for row in positions(rows, len(own)).tolist()]
            scores = trace.scores(site, head, rows=rows, item=item)[..., keys]
        else:
            scores = trace.scores(site, head, rows=rows, item=item)
        # whatever number the network masks them with
        scores = scores.masked_fill(scores <= HIDDEN, -torch.inf)
        if isinstance(layer, Site):
            scores[..., list(self.hidden.get(layer, ()))] = -torch.inf
        return scores

    def query_labels(self, site: Site, item: int = 0) -> list[str]:
        return self.shown.query_labels(site, item)

    def key_labels(self, site: Site, item: int = 0) -> list[str]:
        return self.shown.key_labels(site, item)


def has_joined_tokens(shown: Trace | View) -> bool:
    """Whether any row or column stands for several tokens."""
    return isinstance(shown, View) and any(
        len(group) > 1
        for site in shown.sites
        for direction in ("out", "in")
        for group in shown.origins(site, direction)
    )
