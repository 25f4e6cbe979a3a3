"""What weights gained or lost between two passes of the same input: the second minus the first."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from torch import Tensor

from analysis.overview import Derived, RowSource
from models.progress import Progress, no_progress
from models.trace import Rows, Site

BLOCK = 2**24  # weights that are compared at a time


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
