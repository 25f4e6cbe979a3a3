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
from viz.views.request import Request, input_of, labels_of, note_of

MAX_BYTES = 2**28  # of the weights in one file
LINE = 160  # bytes of a weight in a .csv, with all that names it
INPUT = 100  # characters of the input in each line


def npz(request: Request, view: str) -> bytes:
    """Arrays with named axes and labels; of an atlas, the weights of every layer."""
    arrays: dict[str, Any] = {
        "model": request.view.model,
        "version": __version__,
        "note": note_of(request.view),
        "input": input_of(request.view),
    }
    _check_size(request, view, 4)
    for table in VIEWS[view].answer(request).tables:
        check()
        arrays |= _arrays(table)
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)
    return file.getvalue()


def _arrays(table: Table) -> dict[str, Any]:
    """The numbers with the names of their axes, their labels and their coordinates."""
    name = _name(table.name)
    beside: dict[str, Any] = {"axes": np.array(table.axes)}
    for axis, labels in table.labels.items():
        beside[f"{_name(axis)}_labels"] = np.array(labels, dtype=str)
    for axis, places in table.places.items():
        beside[f"{_name(axis)}_positions"] = np.array(places)
    if table.heads:
        beside["heads"] = np.array([*map(str, table.heads)])
    beside |= _coordinates(table.at) | dict(table.more())
    stem = f"{name}_" if table.stem is None else table.stem
    return {name: table.values, **{f"{stem}{key}": value for key, value in beside.items()}}


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


def csv_table(request: Request, view: str) -> bytes:
    """One line for each number, with everything that names it.

    Raises:
        ValueError: for a file that would be too large.
    """
    _check_size(request, view, LINE)
    data = io.BytesIO()
    with io.TextIOWrapper(data, "utf-8", "replace", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(_lines(request, view))
        file.flush()
        return data.getvalue()


def _about(request: Request) -> dict[str, Any]:
    """What was traced."""
    written = input_of(request.view, INPUT)
    return {"model": request.view.model, "version": __version__, "input": written}


def _told_apart_by(request: Request) -> list[str]:
    """The coordinates that tell the heads of a network apart; the others are left out."""
    places = [site.where.coordinates for site in request.view.sites]
    names = ["layer", "kind"]
    names += [name for name in ("tower", "part") if any(place[name] for place in places)]
    if len({tuple(place[name] for name in names) for place in places}) < len(places):
        names.append("module")
    return [*names, "head"]


def _lines(request: Request, view: str) -> Iterator[Sequence[Any]]:
    """Every number of every table; a column that a table has no use for stays empty there."""
    tables, about = VIEWS[view].answer(request).tables, _about(request)
    known, column = _told_apart_by(request), tables[0].column
    idle = request.site.where.coordinates.keys() - known
    named = {name: None for table in tables for name in _columns(table, idle)}
    columns = [*(name for name in known if name in named), *(() if column else ("numbers",))]
    columns += [name for name in named if name not in columns]
    yield (*about, *columns, column or "value")
    places = {name: place for place, name in enumerate(columns, len(about))}
    for table in tables:
        yield from _lines_of(table, [*about.values(), *[""] * len(columns), ""], places)


def _columns(table: Table, idle: Set[str]) -> Iterator[str]:
    """What names the numbers of a table, without the coordinates that tell no heads apart."""
    at = table.at if isinstance(table.at, Mapping) else table.at[0]
    yield from (name for name in at if name not in idle)
    for axis in table.axes:
        if axis == "head" and at is not table.at:
            continue  # its coordinates name it
        yield axis
        if table.labels.get(axis):
            yield _label(axis)


def _lines_of(table: Table, line: list[Any], places: Mapping[str, int]) -> Iterator[Sequence[Any]]:
    """Each number of a table in turn, in the one line, where its names have their places."""

    def fill(named: Mapping[str, Any]) -> None:
        for name, value in named.items():
            if name in places:
                line[places[name]] = value

    values = table.values
    axes = [
        [_named(table, axis, n) for n in range(count)]
        for axis, count in zip(table.axes, values.shape, strict=True)
    ]
    fill({"numbers": table.name, **(table.at if isinstance(table.at, Mapping) else {})})
    for outer in np.ndindex(values.shape[:-1]):
        check()
        for axis, n in zip(axes, outer, strict=False):
            fill(axis[n])
        for named, number in zip(axes[-1], values[outer].tolist(), strict=True):
            fill(named)
            line[-1] = _written(number)
            yield line


def _named(table: Table, axis: str, n: int) -> Mapping[str, Any]:
    """A place along an axis: its coordinates, or its position and label."""
    if axis == "head" and not isinstance(table.at, Mapping):
        return table.at[n]
    known = table.heads if axis == "head" and table.heads else table.places.get(axis)
    named = {axis: n if known is None else known[n]}
    return named | {_label(axis): labels[n]} if (labels := table.labels.get(axis)) else named


def _label(axis: str) -> str:
    return f"{axis}_{'token' if axis in ('query', 'key') else 'label'}"


def _written(number: float) -> str:
    return "" if math.isnan(number) else f"{number:.9g}"


def _check_size(request: Request, view: str, each: int) -> None:
    """Refuses more weights, of so many bytes each, than fit one file; a form has few numbers."""
    if not FORM[view].of_weights:
        return
    size = 0
    for one in map(request.at, request.sites):
        query, key = labels_of(one)
        size += each * len(one.heads) * len(query) * len(key)
    if size > MAX_BYTES:
        raise ValueError(
            f"the weights would take {size / 2**20:.0f} MiB (at most {MAX_BYTES / 2**20:.0f}):"
            " choose a layer, fewer heads, some rows, or .npz"
        )
