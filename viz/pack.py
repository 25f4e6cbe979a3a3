"""The binary format of messages to the views: little-endian uint32 N | N bytes of JSON | sections.

The JSON is padded with spaces so that 4 + N is a multiple of 8; each section starts at a multiple
of 8 from the start of the section area. All numbers are little-endian.
"""

import json
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from viz import theme
from viz.heatmap import quantise, quantise_log, quantise_scores

VERSION = 1
ALIGNMENT = 8
AXES = ("query", "key", "mean")
BASE_KEYS = ("model", "note", "texts", "sites")


SIGNED = ("scores", "difference")
CODINGS = ("sqrt", "log", *SIGNED)  # how a map's cells become bytes, see viz/heatmap.py


@dataclass(frozen=True)
class Sinks:
    """The keys that are hidden from a matrix, and the weight that each row gave to them."""

    mode: str
    keys: tuple[int, ...]
    shares: np.ndarray


@dataclass(frozen=True)
class Map:
    """The range [r0:r1, c0:c1] of one head's matrix; pooled if weights has a smaller shape.

    Scores take the place of weights where the coding is "scores"; −∞ is masked. Differences of
    weights where it is "difference".
    """

    site: int
    head: int | str
    weights: np.ndarray
    rows: tuple[int, int]
    cols: tuple[int, int]
    coding: str = "sqrt"
    sinks: Sinks | None = None

    def __post_init__(self) -> None:
        _check_place(self.site, self.head)
        if self.coding not in CODINGS:
            raise ValueError(f"expected a coding of {CODINGS}, received {self.coding!r}")
        shape, ranges = self.weights.shape, (self.rows, self.cols)
        if len(shape) != 2 or not all(
            0 <= start < stop and 1 <= size <= stop - start
            for size, (start, stop) in zip(shape, ranges, strict=True)
        ):
            raise ValueError(
                f"expected a map of at most the size of its range, received shape {shape} "
                f"for rows {self.rows} and cols {self.cols}"
            )


@dataclass(frozen=True)
class Row:
    """Exact weights (or scores) of one query or one key, or mean weights."""

    site: int
    head: int | str
    axis: str
    index: int
    weights: np.ndarray
    values: str = "weights"
    sinks: Sinks | None = None

    def __post_init__(self) -> None:
        _check_place(self.site, self.head)
        if self.axis not in AXES or self.weights.ndim != 1 or self.index < 0:
            raise ValueError(
                f"expected axis 'query', 'key' or 'mean' and 1-D weights, received axis "
                f"{self.axis!r}, index {self.index}, shape {self.weights.shape}"
            )
        masked = self.values == "scores" and np.isneginf(self.weights)
        if not (np.isfinite(self.weights) | masked).all():
            raise ValueError("expected finite weights, received NaN or inf")


@dataclass(frozen=True)
class Thumbs:
    """Thumbnails "site column row col"; columns are the heads, then mean, then max.

    Attributes:
        weights: of consecutive sites.
        first: the first of them.
    """

    weights: np.ndarray
    first: int = 0

    def __post_init__(self) -> None:
        if self.weights.ndim != 4:
            raise ValueError(f"expected [site, column, row, col], received {self.weights.shape}")

    @staticmethod
    def of(sites: Sequence[np.ndarray], first: int = 0) -> "Thumbs":
        """Sites "column row col" of different sizes in one zero-padded array.

        Mean and max are the last two columns of every site.
        """
        columns, rows, cols = (max(small.shape[axis] for small in sites) for axis in range(3))
        weights = np.zeros((len(sites), columns, rows, cols), np.float32)
        for filled, small in zip(weights, sites, strict=True):
            heads, (high, wide) = len(small) - 2, small.shape[1:]
            filled[:heads, :high, :wide] = small[:-2]
            filled[-2:, :high, :wide] = small[-2:]
        return Thumbs(weights, first)


class Sections:
    """Collects sections and assigns their offsets."""

    def __init__(self) -> None:
        self.arrays: list[np.ndarray] = []
        self._size = 0

    def add(self, array: np.ndarray) -> int:
        start = _aligned(self._size)
        self.arrays.append(array)
        self._size = start + array.nbytes
        return start


def pack(header: dict[str, Any], sections: Sequence[np.ndarray]) -> bytes:
    """Header and sections as one blob.

    Raises:
        ValueError: The header is not plain JSON (numpy scalars, NaN, other objects).
    """
    _check_plain(header, "header")
    text = json.dumps(header, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    text += b" " * (_aligned(4 + len(text)) - 4 - len(text))
    parts = [struct.pack("<I", len(text)), text]
    size = 0
    for array in sections:
        start = _aligned(size)
        little = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
        parts += [b"\0" * (start - size), little.tobytes()]
        size = start + little.nbytes
    return b"".join(parts)


def unpack(blob: bytes) -> tuple[dict[str, Any], bytes]:
    """The header and the section area ("at" is an offset into it)."""
    if len(blob) < 4:
        raise ValueError(f"expected a blob of 4 bytes or more, received {len(blob)}")
    (length,) = struct.unpack_from("<I", blob)
    if 4 + length > len(blob) or (4 + length) % ALIGNMENT:
        raise ValueError(f"expected a header inside {len(blob)} bytes, received length {length}")
    return json.loads(blob[4 : 4 + length]), bytes(blob[4 + length :])


def message(
    *,
    trace: str,
    base: dict[str, Any] | None = None,
    maps: Sequence[Map] = (),
    rows: Sequence[Row] = (),
    thumbs: Thumbs | None = None,
) -> bytes:
    """A message to the text view; the colours of viz/theme.py are added to a base.

    Args:
        trace: id of the trace; a view ignores additions to another trace.
        base: everything except numbers (BASE_KEYS); None for an addition.
        maps: to be quantised to one byte per cell.
        rows: sent as float32.
        thumbs: at most 40x40 cells each.
    """
    area = Sections()
    header = {
        "v": VERSION,
        "trace": trace,
        "base": None if base is None else _base(base, area),
        "thumbs": None if thumbs is None else _thumbs(thumbs, area),
        "maps": [_map(m, area) for m in maps],
        "rows": [_row(r, area) for r in rows],
    }
    return pack(header, area.arrays)


def run_message(*, trace: str, base: dict[str, Any], thumbs: Thumbs) -> bytes:
    """A message to the view of a run over a corpus: its heads, with their mean weights."""
    area = Sections()
    header = {
        "v": VERSION,
        "trace": trace,
        "base": {**base, "theme": themes(area)},
        "thumbs": _thumbs(thumbs, area),
    }
    return pack(header, area.arrays)


def _base(base: dict[str, Any], area: Sections) -> dict[str, Any]:
    missing = [key for key in BASE_KEYS if key not in base]
    if missing:
        raise ValueError(f"expected a base with {', '.join(BASE_KEYS)}; missing {missing}")
    return {**base, "theme": themes(area)}


def themes(area: Sections) -> dict[str, Any]:
    """The colours of both modes; the weight ramps are stored as sections."""
    return {mode: _theme(mode, area) for mode in theme.MODES}


def _theme(mode: theme.Mode, area: Sections) -> dict[str, Any]:
    colours = theme.COLOURS[mode]
    return {
        "background": colours.background,
        "surface": colours.surface,
        "text": colours.text,
        "muted": colours.muted,
        "line": colours.line,
        "primary": colours.primary,
        "heads": list(colours.heads),
        "sequential": area.add(theme.sequential(mode)),
        "diverging": area.add(theme.diverging(mode)),
    }


def _thumbs(thumbs: Thumbs, area: Sections) -> dict[str, Any]:
    quantised, maxima = quantise(thumbs.weights)
    sites, columns, rows, cols = quantised.shape
    return {
        "at": area.add(quantised),
        "first": thumbs.first,
        "sites": sites,
        "columns": columns,
        "rows": rows,
        "cols": cols,
        "max": [[float(m) for m in site] for site in maxima],
    }


def _map(part: Map, area: Sections) -> dict[str, Any]:
    low = 0.0
    if part.coding in SIGNED:
        quantised, low, high = quantise_scores(part.weights)
    elif part.coding == "log":
        quantised, high = quantise_log(part.weights), float(part.weights.max())
    else:
        quantised, high = quantise(part.weights)
    return {
        "site": part.site,
        "head": part.head,
        "rows": [int(i) for i in part.rows],
        "cols": [int(i) for i in part.cols],
        "shape": list(quantised.shape),
        "coding": part.coding,
        "min": low,
        "max": float(high),
        "at": area.add(quantised),
        "sinks": None if part.sinks is None else _sinks(part.sinks, area),
    }


def _sinks(sinks: Sinks, area: Sections) -> dict[str, Any]:
    shares = np.asarray(sinks.shares, dtype=np.float32)
    return {
        "mode": sinks.mode,
        "keys": list(sinks.keys),
        "share": float(shares.mean(dtype=np.float64)),
        "shares": area.add(shares),
    }


def _row(row: Row, area: Sections) -> dict[str, Any]:
    weights = np.asarray(row.weights, dtype=np.float32)
    total = None if row.values == "scores" else float(weights.sum(dtype=np.float64))
    return {
        "site": row.site,
        "head": row.head,
        "axis": row.axis,
        "index": row.index,
        "count": len(weights),
        "sum": total,
        "at": area.add(weights),
        "values": row.values,
        "sinks": None if row.sinks is None else _sinks(row.sinks, area),
    }


def _aligned(size: int) -> int:
    return -(-size // ALIGNMENT) * ALIGNMENT


def _check_place(site: int, head: int | str) -> None:
    number = isinstance(head, int) and head >= 0
    if site < 0 or not (number or head in ("mean", "max")):
        raise ValueError(
            f"expected a site of 0 or more and a head number, 'mean' or 'max'; "
            f"received site {site!r}, head {head!r}"
        )


def _check_plain(value: object, where: str) -> None:
    """Raises ValueError unless the value is plain JSON: exact types (no np.float64), no NaN."""
    if value is None or type(value) in (str, bool, int):
        return
    if type(value) is float and np.isfinite(value):
        return
    if isinstance(value, list | tuple):
        for i, item in enumerate(value):
            _check_plain(item, f"{where}[{i}]")
        return
    if isinstance(value, dict):
        for key, item in value.items():
            if type(key) is not str:
                raise ValueError(f"expected text as key in {where}, received {key!r}")
            _check_plain(item, f"{where}[{key!r}]")
        return
    raise ValueError(f"expected plain JSON at {where}, received {type(value).__name__} {value!r}")
