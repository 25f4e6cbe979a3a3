"""What a change can reach."""

from dataclasses import dataclass
from itertools import groupby

from viz.api.endpoint import BOTH, Endpoint
from viz.api.entries import TraceEntry, tokens_of
from viz.api.requests import QuestionError, one_of
from viz.api.text import site_at

WHATS = ("weights", "q", "k", "v", "head", "hidden")


@dataclass(frozen=True)
class ReachedSite:
    """The heads of a site, None for all of them, and the rows as ranges, the stop excluded."""

    heads: list[int] | None
    rows: list[tuple[int, int]]


@dataclass(frozen=True)
class Reached:
    """The rows that a change can reach, by site; None where it reaches none."""

    sites: list[ReachedSite | None]


def reachable(
    entry: TraceEntry, site: int, what: str, head: int | str = "mean", token: int | None = None
) -> Reached:
    """The rows of each head whose weights or values after attention a change can change.

    Args:
        entry: the trace.
        site: where something is changed.
        what: is changed, as in `analysis.reachable`.
        head: whose; all of them unless it is a number.
        token: of the trace, at which it is changed; None for all.
    """
    from analysis.reachable import reachable

    trace, one = entry.trace, head if isinstance(head, int) else None
    place = site_at(trace, site)
    try:
        rows = reachable(trace, place, what, head=one, token=token)  # pyright: ignore
    except ValueError as error:
        raise QuestionError(str(error)) from error
    sites: list[ReachedSite | None] = [None] * len(entry.view.sites)
    for number, each in enumerate(rows):
        if heads := each.any(1).nonzero().flatten().tolist():
            reached, groups = each.any(0).tolist(), tokens_of(entry.view, number, "out")
            runs, at = [], 0
            for can_change, run in groupby(any(reached[i] for i in group) for group in groups):
                stop = at + len([*run])
                runs += [(at, stop)] if can_change else []
                at = stop
            sites[number] = ReachedSite(None if len(heads) == len(each) else heads, runs)
    return Reached(sites)


ENDPOINTS = (Endpoint("reachable", BOTH, reachable, what=one_of(*WHATS)),)
