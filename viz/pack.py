"""Messages to the views: little-endian uint32 N | N bytes of JSON | sections of numbers.

The JSON is padded with spaces so that 4 + N is a multiple of 8; each section starts at a multiple
of 8 from the start of the section area. All numbers are little-endian. A message is written as a
dictionary with arrays in it; each becomes a section, and its offset stands in its place.

Maps are a byte a cell. All heads of a layer of a picture are one message of bounded size: where
they do not fit, patches are pooled to square cells: one query represents its cell, and a cell of
keys has its largest weight. Prefix tokens (class token, registers) are never pooled.
"""

import json
import struct
from collections.abc import Sequence
from typing import Any

import numpy as np

from viz import theme
from viz.heatmap import quantise, quantise_scores

VERSION = 1
ALIGNMENT = 8
SIGNED = ("scores", "difference")  # what is not a weight, and has a coding of its own
ALL = "layer"  # in place of a head index: all heads of the layer
BUDGET = 480_000  # bytes of a layer's cells; with header and maxima a message is under 500 kB
Part = dict[str, Any]


def pack(header: Part) -> bytes:
    """A message: its header, and the arrays in it as sections.

    Raises:
        ValueError: for what is neither plain JSON nor an array (numpy scalars, NaN, other objects).
    """
    sections: list[bytes] = []
    text = json.dumps(_plain(header, sections), ensure_ascii=False, separators=(",", ":")).encode()
    text += b" " * (_aligned(4 + len(text)) - 4 - len(text))
    return b"".join([struct.pack("<I", len(text)), text, *sections])


def unpack(blob: bytes) -> tuple[Part, bytes]:
    """The header and the section area ("at" is an offset into it)."""
    (length,) = struct.unpack_from("<I", blob)
    return json.loads(blob[4 : 4 + length]), blob[4 + length :]


def message(base: Part | None = None, **parts: Any) -> bytes:
    """A message to a view: what is needed to draw the controls, with all colours, and parts."""
    lists: Part = {name: [] for name in ("maps", "rows", "layers", "sinks")}
    whole = None if base is None else {**base, "theme": {m: _theme(m) for m in theme.MODES}}
    return pack({"v": VERSION, "base": whole, "thumbs": None, **lists, **parts})


def _theme(mode: theme.Mode) -> Part:
    """The colours of a mode."""
    ramps = {"sequential": theme.sequential(mode), "diverging": theme.diverging(mode)}
    return {**vars(theme.COLOURS[mode]), **ramps}


# ---- parts


def map_part(
    site: int,
    head: int | str,
    cells: np.ndarray,
    rows: range,
    columns: range,
    coding: str = "sqrt",
    sinks: Part | None = None,
) -> Part:
    """A range of one head's matrix; pooled if it has fewer cells than the range.

    Args:
        site: index of the site.
        head: its head.
        cells: weights; scores, where −∞ is masked, or differences by their `coding`.
        rows: the queries.
        columns: the keys.
        coding: how cells become bytes: "sqrt" of weights, "scores" or "difference".
        sinks: see `sinks_part`.
    """
    low = 0.0
    if coding in SIGNED:
        quantised, low, high = quantise_scores(cells)
    else:
        quantised, high = quantise(cells)
    place = {"site": site, "head": head, "shape": [*quantised.shape]}
    ranges = {"rows": [rows.start, rows.stop], "cols": [columns.start, columns.stop]}
    limits = {"coding": coding, "min": low, "max": float(high)}
    return {**place, **ranges, **limits, "at": quantised, "sinks": sinks}


def row_part(
    site: int,
    head: int | str,
    axis: str,
    index: int,
    numbers: np.ndarray,
    values: str = "weights",
    sinks: Part | None = None,
) -> Part:
    """Exact weights (or scores) of one query or one key; of one head or `ALL`."""
    numbers = np.asarray(numbers, dtype=np.float32)
    if not (np.isfinite(numbers) | ((values == "scores") & np.isneginf(numbers))).all():
        raise ValueError("expected finite weights, received NaN or inf")
    total = None if values == "scores" else float(numbers.sum(dtype=np.float64))
    place = {"site": site, "head": head, "axis": axis, "index": index, "values": values}
    return {**place, "count": numbers.size, "sum": total, "at": numbers, "sinks": sinks}


def sinks_part(mode: str, keys: Sequence[int], shares: np.ndarray) -> Part:
    """The keys that are hidden from a matrix, and the weight that each row gave to them."""
    shares = np.asarray(shares, dtype=np.float32)
    mean = float(shares.mean(dtype=np.float64))
    return {"mode": mode, "keys": list(keys), "share": mean, "shares": shares}


def thumbs_part(sites: Sequence[np.ndarray], first: int = 0) -> Part:
    """Thumbnails "column row col" of sites from the first on, zero-padded to one size.

    Columns are the heads, then their mean and maximum, which are the last two of every site.
    """
    columns, rows, cols = (max(small.shape[axis] for small in sites) for axis in range(3))
    weights = np.zeros((len(sites), columns, rows, cols), np.float32)
    for filled, small in zip(weights, sites, strict=True):
        heads, (high, wide) = len(small) - 2, small.shape[1:]
        filled[:heads, :high, :wide] = small[:-2]
        filled[-2:, :high, :wide] = small[-2:]
    cells, maxima = quantise(weights)
    names = ("sites", "columns", "rows", "cols")
    sizes = dict(zip(names, weights.shape, strict=True))
    return {"at": cells, "first": first, **sizes, "max": maxima.tolist()}


def layer_part(site: int, weights: np.ndarray, factor: int, resting: Sequence[int] = ()) -> Part:
    """All heads of one site of a picture.

    Args:
        site: index of the site.
        weights: float32 "head query key", prefix first, then cells of patches row by row.
        factor: patches per side of a cell.
        resting: the cells of patches on which a head rests.
    """
    cells, maxima = quantise(weights, (-1,))
    about = {"site": site, "shape": [*weights.shape], "factor": factor, "resting": list(resting)}
    return {**about, "maxima": maxima, "at": cells}


def cells(grid: tuple[int, int], prefix: int, factor: int) -> int:
    """Number of tokens after pooling."""
    return prefix + -(-grid[0] // factor) * -(-grid[1] // factor)


def factor_for(heads: int, grid: tuple[int, int], prefix: int) -> int:
    """The smallest pooling factor with which a layer fits its bytes."""
    factor = 1
    while heads * cells(grid, prefix, factor) ** 2 > BUDGET and factor < max(grid):
        factor += 1
    return factor


# ---- encoding


def _plain(value: Any, sections: list[bytes], where: str = "header") -> Any:
    """The value with offsets in place of arrays, which are appended to the sections."""
    if isinstance(value, np.ndarray) and value.ndim:
        data = np.ascontiguousarray(value, value.dtype.newbyteorder("<")).tobytes()
        start = sum(map(len, sections))
        sections.append(data + b"\0" * (_aligned(len(data)) - len(data)))
        return start
    if isinstance(value, list | tuple):
        return [_plain(item, sections, f"{where}[{i}]") for i, item in enumerate(value)]
    if isinstance(value, dict) and all(type(name) is str for name in value):
        return {name: _plain(each, sections, f"{where}[{name!r}]") for name, each in value.items()}
    if value is None or type(value) in (str, bool, int):
        return value
    if type(value) is float and np.isfinite(value):
        return value
    raise ValueError(f"expected plain JSON at {where}, received {type(value).__name__} {value!r}")


def _aligned(size: int) -> int:
    return -(-size // ALIGNMENT) * ALIGNMENT
