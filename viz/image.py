"""Messages to the image view, in the format of viz/pack.py: picture, layers, exact rows.

A layer is one message of bounded size. Weights are quantised row by row to eight bits per cell, or
six where eight would not fit; if six do not fit either, patches are pooled to square cells: one
query represents its cell, and a cell of keys has its largest weight. Prefix tokens (class token,
registers) are never pooled.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from viz.pack import AXES, VERSION, Sections, pack, themes

BUDGET = 384_000  # bytes of a layer's cells; with header and maxima a message is under 400 kB
ALL = "layer"  # in place of a head index: all heads of the layer
BASE_KEYS = (
    *("model", "note", "query_labels", "key_labels", "sites"),
    *("grid", "prefix", "patch", "order", "shapes"),
)


@dataclass(frozen=True)
class Picture:
    """The picture at the network's input size, before normalisation; encoded as a file."""

    data: bytes
    kind: str


@dataclass(frozen=True)
class Layer:
    """All heads of one site.

    Attributes:
        site: index of the site.
        weights: float32 "head query key", prefix first, then cells of patches row by row.
        factor: patches per side of a cell.
        resting: the cells of patches on which a head rests.
    """

    site: int
    weights: np.ndarray
    factor: int
    resting: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if self.weights.ndim != 3 or self.site < 0 or self.factor < 1:
            raise ValueError(
                f"expected a site, weights [head, query, key] and a factor of 1 or more, received"
                f" {self.site}, {self.weights.shape}, {self.factor}"
            )


@dataclass(frozen=True)
class Rows:
    """Exact weights of all heads, "head token", for one query or one key; or their differences."""

    site: int
    axis: str
    index: int
    weights: np.ndarray
    values: str = "weights"

    def __post_init__(self) -> None:
        if self.axis not in AXES or self.weights.ndim != 2 or min(self.site, self.index) < 0:
            raise ValueError(
                f"expected axis 'query' or 'key' and weights [head, token], received"
                f" {self.axis!r}, index {self.index}, shape {self.weights.shape}"
            )
        if not np.isfinite(self.weights).all():
            raise ValueError("expected finite weights, received NaN or inf")


@dataclass(frozen=True)
class PictureSinks:
    """The sinks of one site.

    Attributes:
        site: index of the site.
        outliers: whether patches were counted.
        keys: the tokens that are sinks.
        shares: mean weight of a row on them, by head.
        left: float32 "head query", weight of every row on all other tokens.
    """

    site: int
    outliers: bool
    keys: tuple[int, ...]
    shares: np.ndarray
    left: np.ndarray


def cells(grid: tuple[int, int], prefix: int, factor: int) -> int:
    """Number of tokens after pooling."""
    return prefix + -(-grid[0] // factor) * -(-grid[1] // factor)


def factor_for(heads: int, grid: tuple[int, int], prefix: int) -> int:
    """The smallest pooling factor with which a layer fits its bytes."""
    factor = 1
    while _bytes(heads, cells(grid, prefix, factor), 6) > BUDGET and factor < max(grid):
        factor += 1
    return factor


def message(
    *,
    trace: str,
    base: dict[str, Any] | None = None,
    layers: Sequence[Layer] = (),
    rows: Sequence[Rows] = (),
    sinks: Sequence[PictureSinks] = (),
) -> bytes:
    """A message to the image view.

    Args:
        trace: id of the trace; a view ignores additions to another trace.
        base: everything except numbers (BASE_KEYS); None for an addition.
        layers: to be quantised.
        rows: sent as float32.
        sinks: of sites.
    """
    area = Sections()
    if base is not None:
        missing = [key for key in BASE_KEYS if key not in base]
        if missing:
            raise ValueError(f"expected a base with {', '.join(BASE_KEYS)}; missing {missing}")
        base = {**base, "theme": themes(area)}
    header = {
        "v": VERSION,
        "trace": trace,
        "base": base,
        "thumbs": None,
        "maps": [],
        "layers": [_layer(layer, area) for layer in layers],
        "rows": [_rows(row, area) for row in rows],
        "sinks": [_sinks(each, area) for each in sinks],
    }
    return pack(header, area.arrays)


def quantise_rows(weights: np.ndarray, bits: int) -> tuple[np.ndarray, np.ndarray]:
    """Each row quantised by its own maximum: q = round(L·√(a/max)), L = 2^bits − 1.

    Returns:
        q, uint8 of the same shape, and the rows' largest weights, float32 without the last axis.

    Raises:
        ValueError: A weight is NaN, infinite or negative.
    """
    if not (np.isfinite(weights).all() and (weights >= 0).all()):
        raise ValueError("expected finite weights of 0 or more, received NaN, inf or a negative")
    maxima = weights.max(axis=-1).astype(np.float32)
    scale = np.where(maxima > 0, maxima, 1).astype(np.float32)[..., None]
    levels = 2**bits - 1
    return np.rint(levels * np.sqrt(weights / scale)).astype(np.uint8), maxima


def pack_bits(values: np.ndarray, bits: int) -> np.ndarray:
    """Values of eight bits as bytes; of six bits, four values in three bytes, high bits first."""
    flat = values.ravel()
    if bits == 8:
        return flat
    a, b, c, d = np.pad(flat, (0, -len(flat) % 4)).reshape(-1, 4).T
    return np.stack([a << 2 | b >> 4, (b & 15) << 4 | c >> 2, (c & 3) << 6 | d], axis=1).ravel()


def _bytes(heads: int, tokens: int, bits: int) -> int:
    return heads * tokens * tokens * bits // 8


def _layer(layer: Layer, area: Sections) -> dict[str, Any]:
    heads, queries, keys = layer.weights.shape
    bits = 8 if layer.weights.size <= BUDGET else 6
    quantised, maxima = quantise_rows(layer.weights, bits)
    return {
        "site": layer.site,
        "shape": [heads, queries, keys],
        "factor": layer.factor,
        "resting": list(layer.resting),
        "bits": bits,
        "maxima": area.add(maxima),
        "at": area.add(pack_bits(quantised, bits)),
    }


def _sinks(sinks: PictureSinks, area: Sections) -> dict[str, Any]:
    left = np.asarray(sinks.left, dtype=np.float32)
    return {
        "site": sinks.site,
        "outliers": "yes" if sinks.outliers else "no",
        "keys": list(sinks.keys),
        "shares": [float(share) for share in sinks.shares],
        "count": left.size,
        "at": area.add(left),
    }


def _rows(row: Rows, area: Sections) -> dict[str, Any]:
    weights = np.asarray(row.weights, dtype=np.float32)
    return {
        "site": row.site,
        "head": ALL,
        "axis": row.axis,
        "index": row.index,
        "values": row.values,
        "count": weights.size,
        "sum": float(weights.sum(dtype=np.float64)),
        "at": area.add(weights),
    }
