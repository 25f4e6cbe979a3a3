"""The views of the Positions page: each puts its figures on the page."""

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from viz import figures, positions
from viz.pages.positions import biases as position_biases
from viz.pages.positions import encodings
from viz.pages.positions.charts import STYLE, chart, cosines, span, title, wide_chart
from viz.pages.positions.controls import pointer, whole
from viz.pages.positions.encodings import Encoding


def draw(encoding: Encoding, view: str, row: DeltaGenerator) -> None:
    """The figures of one view; those of the others are not made. Its pointers go into the row."""
    st.html(STYLE)
    by_bias = view == "distance" and encoding.scheme in ("alibi", "relative")
    (position_biases.by_distance if by_bias else VIEWS[view])(encoding, row)


def _table(encoding: Encoding, row: DeltaGenerator) -> None:
    values = encodings.table(encoding)
    length, width = values.shape
    with row:
        position = pointer("position", "Position", length - 1, "Whose code is shown")
        dim = pointer("dim", "Dimension", width - 1, "Whose wave is shown")
    low, high = span(values)
    left, right = st.columns([3, 2])
    with left:
        heat = figures.heatmap(
            values,
            title=f"{title(encoding)}: {length} positions × {width} dimensions",
            x="dimension",
            y="position",
            bar="value",
            low=low,
            high=high,
            mark=(position, dim),
            height=520,
        )
        chart(heat, "table", "Heat map of every position's numbers")
    with right:
        _wave(values, dim, position, (1.05 * low, 1.05 * high))
        _code(values, dim, position, (1.05 * low, 1.05 * high))


def _wave(values: np.ndarray, dim: int, position: int, ends: tuple[float, float]) -> None:
    wave = figures.curves(
        np.arange(len(values)),
        {f"dimension {dim}": values[:, dim]},
        title=f"The wave of dimension {dim}",
        x="position",
        y="value",
        mark=position,
        span=ends,
        height=255,
    )
    chart(wave, "wave", f"Dimension {dim} over the positions")


def _code(values: np.ndarray, dim: int, position: int, ends: tuple[float, float]) -> None:
    width = values.shape[1]
    code = figures.curves(
        np.arange(width),
        {f"position {position}": values[position]},
        title=f"The code of position {position}",
        x="dimension",
        y="value",
        mark=dim,
        steps=width <= 128,
        span=ends,
        height=255,
    )
    chart(code, "code", f"The numbers of position {position}")


def _pairs(encoding: Encoding, row: DeltaGenerator) -> None:
    turned = encodings.angles(encoding)
    length, count = turned.shape
    with row:
        query = pointer("position", "Query at", length - 1, "Turns the query's hands")
        key = pointer("key", "Key at", length - 1, "Turns the key's hands")
    shown = sorted({number * (count - 1) // 15 for number in range(16)})
    figure = positions.pairs(
        turned[query, shown],
        turned[key, shown],
        [f"pair {pair}: {turned[1, pair]:.3g}" for pair in shown],
        title=f"{title(encoding)}: query at {query}, key at {key}, distance {query - key}",
    )
    wide_chart(figure, "pairs", "Each pair of dimensions as a dial with two hands")


def _similar(encoding: Encoding, row: DeltaGenerator) -> None:
    values = encodings.similarity(encoding, encoding.length)
    length, (low, high) = len(values), cosines(values)
    with row:
        position = pointer("position", "Position", length - 1, "Which row is drawn as a curve")
    left, right = st.columns(2)
    with left:
        matrix = figures.heatmap(
            values,
            title=f"{title(encoding)}: cosine of every two positions",
            x="position",
            y="position",
            bar="cosine",
            low=low,
            high=high,
            mark=(position, None),
            square=True,
            height=500,
        )
        chart(matrix, "similar", "Cosine similarity of every two positions")
    with right:
        line = figures.curves(
            np.arange(length),
            {"cosine": values[position]},
            title=f"Position {position} with all others",
            x="position",
            y="cosine",
            mark=position,
            span=(-1.05, 1.05),
            height=500,
        )
        chart(line, "similar_row", f"Cosine of position {position} with all others")


def _tiles(encoding: Encoding, row: DeltaGenerator) -> None:
    rows, cols = encoding.rows, encoding.cols
    values = encodings.similarity(encoding, rows * cols)
    low, high = cosines(values)
    figure = positions.tiles(
        values,
        rows,
        cols,
        title=f"{title(encoding)}: each patch with all patches of a {rows} × {cols} grid",
        bar="cosine",
        low=low,
        high=high,
    )
    wide_chart(figure, "tiles", "A grid of tiles, one per patch: its cosine with every patch")


def _distance(encoding: Encoding, row: DeltaGenerator) -> None:
    found = encodings.products(encoding)
    unit = "distance in patches" if encoding.scheme == "grid" else "distance in positions"
    figure = figures.curves(
        found.distance,
        {"mean": found.mean},
        title=f"{title(encoding)}: dot product by distance",
        x=unit,
        y="dot product",
        band=(found.low, found.high),
    )
    chart(figure, "distance", "Mean, smallest and largest dot product at every distance")


def _regrid(encoding: Encoding, row: DeltaGenerator) -> None:
    new = (whole("newrows"), whole("newcols"))
    with row:
        dim = pointer("dim", "Dimension", encoding.width - 1, "Which one the upper row shows")
    figure = figures.facets(
        encodings.regridded(encoding, new, dim),
        title=f"{title(encoding)}: dimension {dim}, and cosine with the middle patch",
        x="patch column",
        y="patch row",
        bar="value",
        low=-1,
        high=1,
        across=3,
        height=640,
    )
    wide_chart(figure, "regrid", "A grid of positions, resampled, and made anew")


VIEWS = {
    "table": _table,
    "pairs": _pairs,
    "similar": _similar,
    "tiles": _tiles,
    "distance": _distance,
    "bias": position_biases.per_head,
    "buckets": position_biases.buckets,
    "regrid": _regrid,
    "alone": position_biases.alone,
}
