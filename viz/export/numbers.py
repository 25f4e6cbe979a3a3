"""The numbers of a figure: .npz and .csv, with their axes named."""

import csv
import io
from typing import Any

import numpy as np

from viz import __version__
from viz.export.request import Request, labels_of, note_of, weights_of

MAX_BYTES = 2**28  # of the weights in one file


def npz(request: Request, view: str) -> bytes:
    """Weights "head query key" with their labels; of an atlas, those of every layer."""
    _check_size(request)
    arrays: dict[str, Any] = {
        "model": request.shown.model,
        "version": __version__,
        "note": note_of(request.shown),
        "axes": np.array(["head", "query", "key"]),
    }
    for site in request.sites:
        one = request.at(site)
        query, key = labels_of(one)
        name = f"site_{one.index}_" if request.every else ""
        arrays |= {
            f"{name}weights": np.stack([weights_of(one, head) for head in one.heads]),
            f"{name}heads": np.array([str(head) for head in one.heads]),
            f"{name}query_labels": np.array(query, dtype=str),
            f"{name}key_labels": np.array(key, dtype=str),
            f"{name}layer": site.layer,
            f"{name}kind": site.kind,
        }
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)
    return file.getvalue()


COLUMNS = (
    *("model", "version", "layer", "kind", "head"),
    *("query", "query_token", "key", "key_token", "weight"),
)


def csv_table(request: Request, view: str) -> bytes:
    """One line for each weight, with everything that names it."""
    _check_size(request)
    file = io.StringIO()
    rows = csv.writer(file, lineterminator="\n")
    rows.writerow(COLUMNS)
    for site in request.sites:
        one = request.at(site)
        query, key = labels_of(one)
        for head in one.heads:
            start = (request.shown.model, __version__, site.layer, site.kind, head)
            rows.writerows(
                (*start, i, query[i], j, key[j], f"{weight:.9g}")
                for i, row in enumerate(weights_of(one, head).tolist())
                for j, weight in enumerate(row)
            )
    return file.getvalue().encode("utf-8", "replace")


def _check_size(request: Request) -> None:
    size = sum(4 * len(request.at(site).heads) * site.queries * site.keys for site in request.sites)
    if size > MAX_BYTES:
        raise ValueError(
            f"the weights would take {size / 2**20:.0f} MiB (at most {MAX_BYTES / 2**20:.0f}):"
            " choose a layer or fewer heads"
        )
