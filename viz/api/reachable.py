"""Responses about what a change can reach."""

from itertools import groupby
from typing import TYPE_CHECKING, Any, Literal

from viz.api.entries import TraceEntry
from viz.api.requests import QuestionError
from viz.api.text import site_at

if TYPE_CHECKING:
    from torch import Tensor

What = Literal["weights", "q", "k", "v", "head", "hidden"]
WHATS: tuple[What, ...] = ("weights", "q", "k", "v", "head", "hidden")


def reachable(
    entry: TraceEntry,
    id: str,
    site: int,
    what: What,
    head: "int | str" = "mean",
    token: int | None = None,
) -> dict[str, Any]:
    """The rows of each head whose weights or values after attention a change can change.

    Args:
        entry: the trace.
        id: of the trace.
        site: where something is changed.
        what: is changed, as in `analysis.reachable`.
        head: whose; all of them unless it is a number.
        token: of the trace, at which it is changed; None for all.

    Returns:
        For each site of the view None where nothing is reached; else the heads, None for all of
        them, and the rows as ranges.
    """
    from analysis.reachable import reachable as rows_reachable

    trace = entry.trace
    place = site_at(trace, site)
    try:
        rows = rows_reachable(
            trace, place, what, head=head if isinstance(head, int) else None, token=token
        )
    except ValueError as error:
        raise QuestionError(str(error)) from error
    answers = [_rows(entry, number, each) for number, each in enumerate(rows)]
    return {"sites": answers + [None] * (len(entry.view.sites) - len(answers))}


def _rows(entry: TraceEntry, site: int, rows: "Tensor") -> dict[str, Any] | None:
    """What is reached of one site."""
    from analysis.view import View

    heads, view = rows.any(1).nonzero().flatten().tolist(), entry.view
    if not heads:
        return None
    reached = rows.any(0).tolist()
    if isinstance(view, View):
        groups = view.origins(view.sites[site], "out")
        reached = [any(reached[token] for token in group) for group in groups]
    ranges = []
    for can_change, run in groupby(range(len(reached)), key=reached.__getitem__):
        places = list(run)
        if can_change:
            ranges.append([places[0], places[-1] + 1])
    return {"heads": None if len(heads) == len(rows) else heads, "rows": ranges}
