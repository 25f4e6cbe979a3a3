"""Responses about all heads of a text: their numbers and sentences."""

import math
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from viz.api.entries import TraceEntry
from viz.api.pool import check, report

if TYPE_CHECKING:
    from analysis.heads import HeadTable, TraceOrView

DIGITS = 6


def numbers(entry: TraceEntry, id: str) -> dict[str, Any]:
    """Every number of every head, what each means, and a sentence for each head."""
    return entry.answers.once("numbers", lambda: _numbers(entry.view))


def _numbers(view: "TraceOrView") -> dict[str, Any]:
    from analysis.descriptions import descriptions
    from analysis.heads import head_table
    from analysis.measures import MEASURES

    table = head_table(view, check=check, progress=report)
    return {
        "measures": [asdict(measure) for measure in MEASURES],
        "values": {measure.key: _by_site(view, table, measure.key) for measure in MEASURES},
        "reasons": dict(table.reasons),
        "sentences": descriptions(view, table),
    }


def _by_site(view: "TraceOrView", table: "HeadTable", key: str) -> list[list[float | None]]:
    """A number per head of each site; None where it is not defined."""
    rows = zip(view.sites, table.values[key].tolist(), strict=True)
    return [[finite(number) for number in row[: site.heads]] for site, row in rows]


def all_weights(entry: TraceEntry) -> int:
    """How many weights the numbers are computed from."""
    if "numbers" in entry.answers:
        return 0
    return sum(site.heads * site.queries * site.keys for site in entry.view.sites)


def finite(number: float) -> float | None:
    """A number for JSON, which has no NaN."""
    return round(number, DIGITS) if math.isfinite(number) else None
