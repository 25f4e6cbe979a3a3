"""Responses about all heads of a text: their numbers and sentences."""

import math
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from viz.api.entries import TraceEntry
from viz.api.pool import check, report
from viz.api.requests import QuestionError
from viz.api.text import site_at

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


def split(
    entry: TraceEntry, id: str, site: int, head: int | str, query: int, key: int
) -> dict[str, Any]:
    """The score of a query and a key, split over what wrote them."""
    from analysis.split import split as split_score
    from analysis.view import JOINT, View

    view, attention_site = entry.view, site_at(entry.view, site, head)
    if not isinstance(head, int) or attention_site.kind == JOINT:
        raise QuestionError("expected one head of one attention layer")
    if query >= attention_site.queries or key >= attention_site.keys:
        raise QuestionError(
            f"expected query 0 to {attention_site.queries - 1}"
            f" and key 0 to {attention_site.keys - 1}"
        )
    if isinstance(view, View):
        query, key = view.token(attention_site, "out", query), view.token(attention_site, "in", key)
        view, attention_site = view.trace, view.trace.site(attention_site)
    try:
        with entry.forward_pass():
            shares = split_score(view, attention_site, head, query, key)
    except ValueError as error:
        raise QuestionError(str(error)) from None
    return {
        "score": shares.score,
        "query": [{"name": name, "value": value} for name, value in shares.query],
        "key": [{"name": name, "value": value} for name, value in shares.key],
        "applied": list(shares.applied),
        "error": shares.error,
    }


def finite(number: float) -> float | None:
    """A number for JSON, which has no NaN."""
    return round(number, DIGITS) if math.isfinite(number) else None
