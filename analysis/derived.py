"""What is read as weights are: the difference of two passes of the same input, and scores."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from analysis.overview import Derived, RowSource
from analysis.view import JOINT, View
from models.attention.pattern import positions
from models.progress import Progress, no_progress
from models.trace import Rows, Site, Trace

BLOCK = 2**24  # weights that are compared at a time
HIDDEN = -3e4  # networks that mask with a large negative number use less than this


@dataclass(frozen=True, eq=False)
class Difference(Derived):
    """A source whose `weights` are those of one pass minus those of another, from -1 to 1.

    Rows sum to 0 where those of both sum to 1. `analysis.overview` reads it, over several heads or
    cells the largest change, with its sign.

    Attributes:
        source: a trace, or a view.
        before: another of the same tokens, whose weights are subtracted.
    """

    before: RowSource

    def weights(
        self, layer: int | Site, head: int | None = None, *, rows: Rows = None
    ) -> Float[Tensor, "*head query key"]:
        first, second = (
            source.weights(layer, head, rows=rows) for source in (self.before, self.source)
        )
        if first.shape != second.shape:
            raise ValueError(
                f"expected passes of the same tokens, received {tuple(first.shape)} and"
                f" {tuple(second.shape)}"
            )
        return second - first

    @property
    def opposite(self) -> "Difference":
        """The same with the other sign."""
        return Difference(self.before, self.source)


@dataclass(frozen=True)
class Change:
    """The weight of a pass that changed most.

    Attributes:
        site: index of its site.
        head: whose weight it is.
        query: its row.
        key: its column.
        change: the second minus the first.
    """

    site: int
    head: int
    query: int
    key: int
    change: float


def most_changed(
    difference: Difference, sites: Sequence[Site], progress: Progress = no_progress
) -> Change | None:
    """The largest change of a weight over all heads of some sites; None where nothing changed."""
    most: Change | None = None
    for index, site in enumerate(sites):
        progress(index, len(sites))
        step = max(1, BLOCK // (site.heads * site.keys))
        count = len(difference.query_labels(site))
        for start in range(0, count, step):
            rows = range(start, min(start + step, count))
            changes = difference.weights(site, rows=rows)
            place = int(changes.abs().argmax())
            change = float(changes.flatten()[place])
            if change and (most is None or abs(change) > abs(most.change)):
                head, query, key = np.unravel_index(place, changes.shape)
                most = Change(index, int(head), start + int(query), int(key), change)
    progress(len(sites), len(sites))
    return most


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
