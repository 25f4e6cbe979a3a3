"""The numbers of a figure: .npz and .csv, with their axes named."""

import csv
import io
import math
import re
from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Any

import numpy as np

from viz import __version__
from viz.api.pool import check
from viz.views import FORM, VIEWS
from viz.views.answer import Table
from viz.views.request import (
    One,
    Request,
    drawn_of,
    input_of,
    labels_of,
    note_of,
    rows_and_columns,
)
from viz.views.sinks import hidden_of

MAX_BYTES = 2**28  # of the weights in one file


def npz(request: Request, view: str) -> bytes:
    """Arrays with named axes and labels; of an atlas, the weights of every layer."""
    arrays: dict[str, Any] = {
        "model": request.view.model,
        "version": __version__,
        "note": note_of(request.view),
        "input": input_of(request.view),
    }
    arrays |= _weights(request, view) if FORM[view].of_weights else _tables(request, view)
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)
    return file.getvalue()


def _tables(request: Request, view: str) -> dict[str, Any]:
    """Each table of a form, with the names of its axes, its labels and its coordinates."""
    arrays: dict[str, Any] = {}
    for table in VIEWS[view].answer(request).tables:
        name = _name(table.name)
        arrays[name] = table.values
        arrays[f"{name}_axes"] = np.array(table.axes)
        for axis, labels in table.labels.items():
            arrays[f"{name}_{_name(axis)}_labels"] = np.array(labels, dtype=str)
        for axis, places in table.places.items():
            arrays[f"{name}_{_name(axis)}_positions"] = np.array(places)
        arrays |= {f"{name}_{key}": value for key, value in _coordinates(table.at).items()}
    return arrays


def _coordinates(at: Mapping[str, Any] | Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Coordinates without those that a model does not have; of several places as arrays."""
    if isinstance(at, Mapping):
        return {name: value for name, value in at.items() if value is not None}
    names = [name for name in at[0] if any(each[name] is not None for each in at)] if at else []
    return {
        name: np.array(["" if each[name] is None else each[name] for each in at]) for name in names
    }


def _name(words: str) -> str:
    return "_".join(re.findall(r"[A-Za-z0-9]+", words))


def _weights(request: Request, view: str) -> dict[str, Any]:
    """Weights "head query key" with their labels."""
    _check_size(request)
    arrays: dict[str, Any] = {"axes": np.array(["head", "query", "key"])}
    for site in request.sites:
        check()
        one = request.at(site)
        query, key = labels_of(one)
        rows, columns = rows_and_columns(one)
        name = f"site_{one.index}_" if request.every else ""
        values = request.selection.values
        arrays |= {
            f"{name}{values}": np.stack([drawn_of(one, head, view) for head in one.heads]),
            f"{name}heads": np.array([str(head) for head in one.heads]),
            f"{name}query_labels": np.array(query, dtype=str),
            f"{name}key_labels": np.array(key, dtype=str),
            f"{name}query_positions": np.array(rows),
            f"{name}key_positions": np.array(columns),
        }
        place = _coordinates(site.where.coordinates)
        arrays |= {f"{name}{key}": value for key, value in place.items()}
        if (hidden := hidden_of(one, rows)) is not None:
            arrays |= {
                f"{name}hidden_keys": np.array(hidden.keys),
                f"{name}hidden_share": np.stack(hidden.shares),
            }
    return arrays


def csv_table(request: Request, view: str) -> bytes:
    """One line for each number, with everything that names it.

    Raises:
        ValueError: for a file that would be too large.
    """
    size = csv_size(request, view)
    if size > MAX_BYTES:
        raise ValueError(
            f"the numbers would take {size / 1e6:.0f} MB as text (at most"
            f" {MAX_BYTES / 1e6:.0f}): choose .npz, fewer heads, or some rows"
        )
    data = io.BytesIO()
    with io.TextIOWrapper(data, "utf-8", "replace", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        lines = _weight_lines if FORM[view].of_weights else _table_lines
        rows.writerows(lines(request, view))
        file.flush()
        return data.getvalue()


INPUT = 100  # characters of the input in each line
NUMBER = 14  # characters of a number, with its comma


def csv_size(request: Request, view: str) -> int:
    """About how many bytes the weights take as text; 0 for a form, which has few numbers."""
    if not FORM[view].of_weights:
        return 0
    size = 0
    for one in map(request.at, request.sites):
        query, key = labels_of(one)
        beside = len(",".join(map(str, _start(one, one.heads[0]).values()))) + NUMBER
        beside += len(f",{len(query)},,{len(key)},")
        labels = len(key) * sum(map(len, query)) + len(query) * sum(map(len, key))
        size += len(one.heads) * (len(query) * len(key) * beside + labels)
    return size


def _about(request: Request) -> dict[str, Any]:
    """What was traced."""
    written = input_of(request.view, INPUT)
    return {"model": request.view.model, "version": __version__, "input": written}


def _start(request: Request, head: One) -> dict[str, Any]:
    """What each line of a head's weights begins with."""
    place = request.site.where.coordinates | {"head": head}
    return _about(request) | {name: place[name] for name in _told_apart_by(request)}


def _told_apart_by(request: Request) -> list[str]:
    """The coordinates that tell the heads of a network apart; the others are left out."""
    places = [site.where.coordinates for site in request.view.sites]
    names = ["layer", "kind"]
    names += [name for name in ("tower", "part") if any(place[name] for place in places)]
    if len({tuple(place[name] for name in names) for place in places}) < len(places):
        names.append("module")
    return [*names, "head"]


TOKENS = ("query", "query_token", "key", "key_token")


def _weight_lines(request: Request, view: str) -> Iterator[Sequence[Any]]:
    value = request.selection.values.removesuffix("s")
    yield (*_about(request), *_told_apart_by(request), *TOKENS, value)
    for one in map(request.at, request.sites):
        query, key = labels_of(one)
        rows, columns = rows_and_columns(one)
        for head in one.heads:
            start = (*_start(one, head).values(),)
            drawn = drawn_of(one, head, view).tolist()
            for i, label, row in zip(rows, query, drawn, strict=True):
                check()
                yield from (
                    (*start, i, label, j, other, _written(weight))
                    for j, other, weight in zip(columns, key, row, strict=True)
                )


def _table_lines(request: Request, view: str) -> Iterator[Sequence[Any]]:
    """Every number of every table; a column that a table has no use for stays empty there."""
    about, known = _about(request), _told_apart_by(request)
    idle = request.site.where.coordinates.keys() - known
    lines = [
        line for table in VIEWS[view].answer(request).tables for line in _lines_of(table, idle)
    ]
    named = {name: None for line in lines for name in line if name != "value"}
    columns = [*(name for name in known if name in named), "numbers"]
    columns += [name for name in named if name not in columns]
    yield (*about, *columns, "value")
    for line in lines:
        yield (*about.values(), *(line.get(name, "") for name in (*columns, "value")))


def _lines_of(table: Table, idle: Set[str]) -> Iterator[dict[str, Any]]:
    """Each number with its coordinates: those of its head, and a position along each axis.

    Args:
        table: the numbers.
        idle: coordinates that are left out, as they tell no heads apart.
    """
    shared = isinstance(table.at, Mapping)
    for place in np.ndindex(table.values.shape):
        at = table.at if isinstance(table.at, Mapping) else table.at[place[0]]
        line = {name: v for name, v in at.items() if name not in idle}
        line["numbers"] = table.name
        for axis, n in zip(table.axes, place, strict=True):
            if axis == "head" and not shared:
                continue  # its coordinates name it
            line[axis] = table.places[axis][n] if axis in table.places else n
            if labels := table.labels.get(axis, ()):
                line[f"{axis}_{'token' if axis in ('query', 'key') else 'label'}"] = labels[n]
        yield line | {"value": _written(float(table.values[place]))}


def _written(number: float) -> str:
    return "" if math.isnan(number) else f"{number:.9g}"


def _check_size(request: Request) -> None:
    size = sum(4 * len(request.at(site).heads) * site.queries * site.keys for site in request.sites)
    if size > MAX_BYTES:
        raise ValueError(
            f"the weights would take {size / 2**20:.0f} MiB (at most {MAX_BYTES / 2**20:.0f}):"
            " choose a layer or fewer heads"
        )
