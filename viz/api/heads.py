"""Responses about all heads of a text: their numbers and their sentences."""

import math
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from viz.api.entries import TextEntry

if TYPE_CHECKING:
    from analysis.heads import HeadTable, Shown

DIGITS = 6


def numbers(entry: TextEntry, id: str) -> dict[str, Any]:
    """Every number of every head, what each means, and a sentence for each head."""
    if "numbers" not in entry.answers:
        entry.answers["numbers"] = _numbers(entry.shown)
    return entry.answers["numbers"]


def _numbers(shown: "Shown") -> dict[str, Any]:
    from analysis.descriptions import descriptions
    from analysis.heads import head_table
    from analysis.measures import MEASURES

    table = head_table(shown)
    return {
        "measures": [asdict(measure) for measure in MEASURES],
        "values": {measure.key: _by_site(shown, table, measure.key) for measure in MEASURES},
        "reasons": dict(table.reasons),
        "sentences": descriptions(shown, table),
    }


def _by_site(shown: "Shown", table: "HeadTable", key: str) -> list[list[float | None]]:
    """A number per head of each site; None where it is not defined."""
    rows = zip(shown.sites, table.values[key].tolist(), strict=True)
    return [[finite(number) for number in row[: site.heads]] for site, row in rows]


def finite(number: float) -> float | None:
    """A number for JSON, which has no NaN."""
    return round(number, DIGITS) if math.isfinite(number) else None
