"""Responses for the filters of a text's picture."""

from typing import TYPE_CHECKING, Any

from viz.api.entries import TraceEntry
from viz.api.text import site_at, source_of, within

if TYPE_CHECKING:
    from analysis.overview import Head


def hidden_of(
    entry: TraceEntry,
    id: str,
    site: int,
    head: "Head",
    rows: range | None = None,
    columns: range | None = None,
    least: float = 0.0,
    top: int | None = None,
    sinks: str = "shown",
) -> dict[str, Any]:
    """The share of the weight that is shown, without sinks where these are hidden, that filters
    leave out."""
    from analysis.filters import hidden

    attention_site = site_at(entry.view, site, head)
    rows, columns = (
        within("rows", rows, attention_site.queries),
        within("columns", columns, attention_site.keys),
    )
    source, _ = source_of(entry.view, attention_site, "weights", sinks, entry.answers)
    share = hidden(source, attention_site, head, rows, columns, least=least, top=top)
    return {"share": share.share, "rows": share.rows, "total": share.total}


def strongest_of(
    entry: TraceEntry,
    id: str,
    site: int,
    head: "Head",
    top: int,
    rows: range | None = None,
    columns: range | None = None,
    sinks: str = "shown",
) -> dict[str, Any]:
    """The keys with the largest weights of each row, sinks left out where these are hidden."""
    from analysis.filters import strongest

    attention_site = site_at(entry.view, site, head)
    rows, columns = (
        within("rows", rows, attention_site.queries),
        within("columns", columns, attention_site.keys),
    )
    source, _ = source_of(entry.view, attention_site, "weights", sinks, entry.answers)
    keys = strongest(source, attention_site, head, rows, columns, top)
    return {"first": rows.start, "keys": keys.tolist()}
