"""The numbers of a figure: .npz and .csv, with their axes named."""

import io
import re
from collections.abc import Mapping, Sequence, Set
from typing import TYPE_CHECKING, Any

import numpy as np

from viz import __version__
from viz.api.pool import check
from viz.views import FORM, VIEWS
from viz.views.answer import Table
from viz.views.request import Request, input_of, labels_of, note_of

if TYPE_CHECKING:
    import pandas as pd

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

    A column that a table has no use for stays empty there.

    Raises:
        ValueError: for a file that would be too large.
    """
    import pandas as pd

    _check_size(request, view, LINE)
    tables = VIEWS[view].answer(request).tables
    known, value = _told_apart_by(request), tables[0].column or "value"
    idle = request.site.where.coordinates.keys() - known
    about = {"model": request.view.model, "version": __version__}
    about["input"] = input_of(request.view, INPUT)
    frames = []
    for table in tables:
        check()
        named = about if table.column else about | {"numbers": table.name}
        frames.append(_lines(table, value, idle).assign(**named))
    whole = pd.concat(frames, ignore_index=True)
    first = [*about, *known, "numbers"]
    columns = [name for name in first if name in whole]
    columns += [name for name in whole if name not in (*first, value)]
    text = whole[[*columns, value]].to_csv(index=False, float_format="%.9g", lineterminator="\n")
    return text.encode("utf-8", "replace")


def _told_apart_by(request: Request) -> list[str]:
    """The coordinates that tell the heads of a network apart; the others are left out."""
    places = [site.where.coordinates for site in request.view.sites]
    names = ["layer", "kind"]
    names += [name for name in ("tower", "part") if any(place[name] for place in places)]
    if len({tuple(place[name] for name in names) for place in places}) < len(places):
        names.append("module")
    return [*names, "head"]


def _lines(table: Table, value: str, idle: Set[str]) -> "pd.DataFrame":
    """Each number of a table, with its place along each axis and what these are called; without
    coordinates that tell no heads apart."""
    import pandas as pd

    numbers, columns = table.values, dict[str, Any]()
    if isinstance(table.at, Mapping):
        columns |= {name: each for name, each in table.at.items() if name not in idle}
    for axis, place in zip(table.axes, np.indices(numbers.shape), strict=True):
        at = place.ravel()
        if axis == "head" and not isinstance(table.at, Mapping):
            names = pd.DataFrame([*table.at], dtype=object)
            columns |= {name: names[name].to_numpy()[at] for name in names if name not in idle}
            continue
        known = table.heads if axis == "head" and table.heads else table.places.get(axis)
        columns[axis] = at if known is None else np.array(known, dtype=object)[at]
        if labels := table.labels.get(axis):
            named = f"{axis}_{'token' if axis in ('query', 'key') else 'label'}"
            columns[named] = np.array(labels, dtype=object)[at]
    return pd.DataFrame(columns, dtype=object).assign(**{value: numbers.ravel().astype(float)})


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
