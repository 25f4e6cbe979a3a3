"""Responses about the trace of a picture: all heads of a layer, exact rows, sinks."""

from typing import TYPE_CHECKING, Literal

from viz.api.endpoint import endpoint
from viz.api.entries import TraceEntry
from viz.api.pool import check
from viz.api.requests import QuestionError
from viz.api.text import DIFFERENCE, site_at
from viz.pack import ALL, factor_for, layer_part, message, row_part

if TYPE_CHECKING:
    from torch import Tensor


@endpoint("layer", "image")
def layer_of(entry: TraceEntry, site: int) -> bytes:
    """All heads of one layer; patches are pooled where they would not fit one message."""
    from analysis.patches import grid_of, layer_cells, resting_cells

    attention_site = site_at(entry.trace, site)
    grid, prefix = grid_of(entry.trace, attention_site)
    factor = factor_for(attention_site.heads, grid, prefix)
    cells = layer_cells(entry.trace, attention_site, factor)
    resting = tuple(resting_cells(cells, prefix).nonzero().flatten().tolist())
    return message(layers=[layer_part(site, cells.numpy(force=True), factor, resting)])


@endpoint("heads", "image")
def heads_of(
    entry: TraceEntry,
    site: int,
    axis: Literal["query", "key"],
    index: int,
    values: Literal["weights", "difference"] = "weights",
) -> bytes:
    """The exact weights of all heads for one query, or for one key; or what edits changed."""
    from analysis.patches import heads_of_key, heads_of_query

    attention_site = site_at(entry.trace, site)
    if index >= attention_site.queries:
        raise QuestionError(f"expected index 0 to {attention_site.queries - 1}")

    def read(one: TraceEntry) -> "Tensor":
        if axis == "query":
            return heads_of_query(one.trace, attention_site, index)
        return heads_of_key(one.trace, attention_site, index)

    weights = read(entry)
    if values == DIFFERENCE:
        entry.difference(site)
        weights = weights - read(entry.unedited)
    numbers = weights.numpy(force=True)
    return message(rows=[row_part(site, ALL, axis, index, numbers, values)])


@endpoint("sinks", "image", slow=True)
def sinks_of(entry: TraceEntry, site: int, outliers: bool = False) -> bytes:
    """The class token, registers and, if asked for, outlier patches, and what rows give to them."""
    from analysis.patches import patch_sinks

    attention_site = site_at(entry.trace, site)
    sinks = patch_sinks(entry.trace, attention_site, outliers=outliers, check=check)
    part = {
        "site": site,
        "outliers": "yes" if outliers else "no",
        "keys": list(sinks.keys),
        "shares": sinks.shares.tolist(),
    }
    return message(sinks=[part])
