"""The numbers of a figure: .npz and .csv, with their axes named."""

import csv
import io
import math
import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from viz import __version__
from viz.export.forms import FORMS
from viz.export.request import (
    Request,
    drawn_of,
    input_of,
    labels_of,
    note_of,
    rows_and_columns,
)
from viz.export.sinks import hidden_of

MAX_BYTES = 2**28  # of the weights in one file


def npz(request: Request, view: str) -> bytes:
    """Arrays with named axes and labels; of an atlas, the weights of every layer."""
    arrays: dict[str, Any] = {
        "model": request.shown.model,
        "version": __version__,
        "note": note_of(request.shown),
        "input": input_of(request.shown),
    }
    arrays |= _tables(request, view) if view in FORMS else _weights(request, view)
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)
    return file.getvalue()


def _tables(request: Request, view: str) -> dict[str, Any]:
    """Each table of a form, with the names of its axes and its labels."""
    site = request.site
    arrays: dict[str, Any] = {"layer": site.layer, "kind": site.kind}
    arrays["heads"] = np.array([str(head) for head in request.heads])
    for table in FORMS[view](request).tables:
        name = _name(table.name)
        arrays[name] = table.values
        arrays[f"{name}_axes"] = np.array(table.axes)
        for axis, labels in table.labels.items():
            arrays[f"{name}_{_name(axis)}_labels"] = np.array(labels, dtype=str)
    return arrays


def _name(words: str) -> str:
    return "_".join(re.findall(r"[A-Za-z0-9]+", words))


def _weights(request: Request, view: str) -> dict[str, Any]:
    """Weights "head query key" with their labels."""
    _check_size(request)
    arrays: dict[str, Any] = {"axes": np.array(["head", "query", "key"])}
    for site in request.sites:
        one = request.at(site)
        query, key = labels_of(one)
        rows, columns = rows_and_columns(one)
        name = f"site_{one.index}_" if request.every else ""
        values = request.filters.values
        arrays |= {
            f"{name}{values}": np.stack([drawn_of(one, head, view) for head in one.heads]),
            f"{name}heads": np.array([str(head) for head in one.heads]),
            f"{name}query_labels": np.array(query, dtype=str),
            f"{name}key_labels": np.array(key, dtype=str),
            f"{name}query_positions": np.array(rows),
            f"{name}key_positions": np.array(columns),
            f"{name}layer": site.layer,
            f"{name}kind": site.kind,
        }
        if (hidden := hidden_of(one, rows)) is not None:
            arrays |= {
                f"{name}hidden_keys": np.array(hidden.keys),
                f"{name}hidden_share": np.stack(hidden.shares),
            }
    return arrays


COLUMNS = (
    *("model", "version", "layer", "kind", "head"),
    *("query", "query_token", "key", "key_token", "weight"),
)

TABLE_COLUMNS = ("model", "version", "layer", "kind", "head", "numbers")


def csv_table(request: Request, view: str) -> bytes:
    """One line for each number, with everything that names it."""
    file = io.StringIO()
    rows = csv.writer(file, lineterminator="\n")
    rows.writerows(_table_lines(request, view) if view in FORMS else _weight_lines(request, view))
    return file.getvalue().encode("utf-8", "replace")


def _weight_lines(request: Request, view: str) -> Iterator[Sequence[Any]]:
    _check_size(request)
    scores = request.filters.values == "scores"
    yield (*COLUMNS[:-1], "score") if scores else COLUMNS
    for site in request.sites:
        one = request.at(site)
        query, key = labels_of(one)
        rows, columns = rows_and_columns(one)
        for head in one.heads:
            start = (request.shown.model, __version__, site.layer, site.kind, head)
            drawn = drawn_of(one, head, view).tolist()
            for i, label, row in zip(rows, query, drawn, strict=True):
                yield from (
                    (*start, i, label, j, other, "" if math.isnan(weight) else f"{weight:.9g}")
                    for j, other, weight in zip(columns, key, row, strict=True)
                )


def _table_lines(request: Request, view: str) -> Iterator[Sequence[Any]]:
    """Every number of every table; a table with fewer axes than another leaves columns empty."""
    tables = FORMS[view](request).tables
    most = max(table.values.ndim for table in tables)
    places = [(f"axis_{n}", f"place_{n}", f"label_{n}") for n in range(1, most + 1)]
    yield (*TABLE_COLUMNS, *(name for place in places for name in place), "value")
    heads = " ".join(map(str, request.heads))
    start = (request.shown.model, __version__, request.site.layer, request.site.kind, heads)
    for table in tables:
        for place in np.ndindex(table.values.shape):
            named: list[Any] = []
            for axis, at in zip(table.axes, place, strict=True):
                labels = table.labels.get(axis, ())
                named += [axis, at, labels[at] if labels else ""]
            named += [""] * (3 * (most - len(place)))
            value = float(table.values[place])
            yield (*start, table.name, *named, "" if math.isnan(value) else f"{value:.9g}")


def _check_size(request: Request) -> None:
    size = sum(4 * len(request.at(site).heads) * site.queries * site.keys for site in request.sites)
    if size > MAX_BYTES:
        raise ValueError(
            f"the weights would take {size / 2**20:.0f} MiB (at most {MAX_BYTES / 2**20:.0f}):"
            " choose a layer or fewer heads"
        )
