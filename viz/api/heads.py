"""Responses about all heads of a text: their numbers, sentences and likeness; and their vectors."""

import math
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from viz.api.entries import TraceEntry
from viz.api.pool import check, report
from viz.api.requests import QuestionError
from viz.api.text import site_at

if TYPE_CHECKING:
    from torch import Tensor

    from analysis.heads import HeadTable, Shown

DIGITS = 6


def numbers(entry: TraceEntry, id: str) -> dict[str, Any]:
    """Every number of every head, what each means, and a sentence for each head."""
    return entry.answers.once("numbers", lambda: _numbers(entry.shown))


def _numbers(shown: "Shown") -> dict[str, Any]:
    from analysis.descriptions import descriptions
    from analysis.heads import head_table
    from analysis.measures import MEASURES

    table = head_table(shown, check=check, progress=report)
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


def all_weights(entry: TraceEntry) -> int:
    """How many weights the numbers are computed from."""
    if "numbers" in entry.answers:
        return 0
    return sum(site.heads * site.queries * site.keys for site in entry.shown.sites)


def similarity(entry: TraceEntry, id: str) -> dict[str, Any]:
    """All heads on a plane: near each other if they attend alike."""
    return entry.answers.once("similarity", lambda: _similarity(entry.shown))


def _similarity(shown: "Shown") -> dict[str, Any]:
    from analysis.similarity import head_map

    found = head_map(shown, progress=report)
    places = found.points.isfinite().all(-1).tolist()
    return {
        "points": [
            [
                point if there else None
                for point, there in zip(_rounded(row[: site.heads]), own, strict=False)
            ]
            for site, row, own in zip(shown.sites, found.points, places, strict=True)
        ],
        "rows": len(found.rows),
        "explained": found.explained,
    }


def vectors(entry: TraceEntry, id: str, site: int, head: int | str) -> dict[str, Any]:
    """Queries and keys of a head on the two principal components of both."""
    from analysis.vectors import head_vectors
    from analysis.view import JOINT

    found = site_at(entry.shown, site, head)
    if not isinstance(head, int) or found.kind == JOINT:
        raise QuestionError("expected one head of one attention layer")
    made = head_vectors(entry.shown, found, head)
    return {
        "queries": _rounded(made.queries),
        "keys": _rounded(made.keys),
        "query_indices": list(made.query_indices),
        "key_indices": list(made.key_indices),
        "explained": list(made.explained),
    }


def split(
    entry: TraceEntry, id: str, site: int, head: int | str, query: int, key: int
) -> dict[str, Any]:
    """The score of a query and a key, split over what wrote them."""
    from analysis.split import split as split_score
    from analysis.view import JOINT, View

    shown, found = entry.shown, site_at(entry.shown, site, head)
    if not isinstance(head, int) or found.kind == JOINT:
        raise QuestionError("expected one head of one attention layer")
    if query >= found.queries or key >= found.keys:
        raise QuestionError(
            f"expected query 0 to {found.queries - 1} and key 0 to {found.keys - 1}"
        )
    if isinstance(shown, View):
        query, key = shown.token(found, "out", query), shown.token(found, "in", key)
        shown, found = shown.trace, shown.trace.site(found)
    try:
        with entry.forward_pass():
            made = split_score(shown, found, head, query, key)
    except ValueError as error:
        raise QuestionError(str(error)) from None
    return {
        "score": made.score,
        "query": [{"name": name, "value": value} for name, value in made.query],
        "key": [{"name": name, "value": value} for name, value in made.key],
        "applied": list(made.applied),
        "error": made.error,
    }


def _rounded(points: "Tensor") -> list[list[float]]:
    return [[round(number, DIGITS) for number in point] for point in points.tolist()]


def finite(number: float) -> float | None:
    """A number for JSON, which has no NaN."""
    return round(number, DIGITS) if math.isfinite(number) else None
