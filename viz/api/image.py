"""Responses about the trace of a picture: all heads of a layer, exact rows, sinks."""

from typing import Literal

import numpy as np

from viz.api.endpoint import endpoint
from viz.api.entries import TraceEntry
from viz.api.pool import check
from viz.api.text import exact, source_of
from viz.pack import ALL, factor_for, layer_part, message, row_part


@endpoint("layer", "image")
def layer_of(entry: TraceEntry, site: int) -> bytes:
    """All heads of one layer; patches are pooled where they would not fit one message."""
    from analysis.patches import grid_of, layer_cells, resting_cells

    attention_site = entry.trace.sites[site]
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
    where = entry.trace.sites[site]
    source, _ = source_of(entry, where, values, "shown")
    heads = [exact(source, where, head, axis, index) for head in range(where.heads)]
    numbers = np.stack(heads)[:, : where.queries]
    return message(rows=[row_part(site, ALL, axis, index, numbers, values)])


@endpoint("sinks", "image", slow=True)
def sinks_of(entry: TraceEntry, site: int, outliers: bool = False) -> bytes:
    """The class token, registers and, if asked for, outlier patches, and what rows give to them."""
    from analysis.patches import patch_sinks

    sinks = patch_sinks(entry.trace, entry.trace.sites[site], outliers=outliers, check=check)
    part = {
        "site": site,
        "outliers": "yes" if outliers else "no",
        "keys": list(sinks.keys),
        "shares": sinks.shares.tolist(),
    }
    return message(sinks=[part])
