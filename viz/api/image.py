"""Responses about the trace of a picture: all heads of a layer, exact rows, sinks."""

from typing import Literal

import numpy as np

from viz.api.endpoint import endpoint
from viz.api.entries import TraceEntry
from viz.api.pool import check
from viz.api.text import exact, site_at
from viz.pack import ALL, factor_for, layer_part, message, row_part


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
    where = site_at(entry.trace, site)
    heads = [exact(entry, site, head, axis, index, values)[0] for head in range(where.heads)]
    numbers = np.stack(heads)[:, : where.queries]
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
