"""Which numbers a run over a corpus has, and how they and its heads are told."""

import math
from typing import TYPE_CHECKING

from viz.api.entries import RunEntry

if TYPE_CHECKING:
    from analysis.corpus import Run
    from analysis.measures import Measure


def measures(run: "Run") -> "list[Measure]":
    """The numbers that a run has of its heads, in the order of their declaration."""
    from analysis.measures import MEASURES, PICTURE_MEASURES

    heads = run.heads
    known = (*MEASURES, *PICTURE_MEASURES)
    return [each for each in known if each.key in heads and heads[each.key].notna().any()]


def exact(number: float | None) -> float | None:
    """A number for JSON, as it is in the tables."""
    return float(number) if number is not None and math.isfinite(number) else None


def rounded(number: float) -> float | None:
    """A number for JSON, to six decimals."""
    return round(number, 6) if math.isfinite(number) else None


def place_of(entry: RunEntry, number: int) -> dict[str, int]:
    """The site of a head, and its number there."""
    site = max(i for i, each in enumerate(entry.sites) if each.first <= number)
    return {"site": site, "head": number - entry.sites[site].first}
