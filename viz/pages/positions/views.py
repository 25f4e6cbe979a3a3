"""The views of the Positions page: each draws its figures, and its sliders in the control row."""

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from viz import figures, positions
from viz.pages.positions import compute, encodings
from viz.pages.positions.charts import chart, cosines, span, title, wide_chart
from viz.pages.positions.controls import pointer, whole
from viz.pages.positions.encodings import Encoding
from viz.pages.positions.texts import clipped

MOST = 128  # cells along a side of one of several matrices, which has about 200 pixels


def draw(encoding: Encoding, view: str, row: DeltaGenerator) -> None:
    """Draws the figures of one view."""
    by_bias = view == "distance" and encoding.scheme in ("alibi", "relative")
    (_bias_by_distance if by_bias else VIEWS[view])(encoding, row)


def _table(encoding: Encoding, row: DeltaGenerator) -> None:
    values = compute.table(encoding)
    length, width = values.shape
    with row:
        position = pointer("position", "Position", length - 1, "Whose code is shown")
        dim = pointer("dim", "Dimension", width - 1, "Whose wave is shown")
    low, high = span(values, learned=encoding.scheme == "learned")
    largest = span(values)[1]
    left, right = st.columns([3, 2])
    with left:
        heat = figures.heatmap(
            values,
            title=f"{title(encoding)}: {length} positions × {width} dimensions",
            x="dimension",
            y="position",
            bar="value" if high == largest else f"value, clipped at ±{high:.2g}",
            low=low,
            high=high,
            mark=(position, dim),
            height=520,
        )
        chart(heat, "table", "Heat map of every position's numbers")
    with right:
        _wave(values, dim, position, _ends(values[:, dim], high))
        _code(values, dim, position, _ends(values[position], high))
    if high < largest:
        st.caption(clipped(high, largest))


def _ends(curve: np.ndarray, high: float) -> tuple[float, float]:
    """Range of a curve's axis: the colour range, extended to the curve."""
    end = 1.05 * max(high, float(abs(curve).max()))
    return -end, end


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
    turned = compute.angles(encoding)
    length, count = turned.shape
    with row:
        query = pointer("position", "Query at", length - 1, "Rotates the query's hands")
        key = pointer("key", "Key at", length - 1, "Rotates the key's hands")
    pairs = sorted({number * (count - 1) // 15 for number in range(16)})
    figure = positions.pairs(
        turned[query, pairs],
        turned[key, pairs],
        [f"pair {pair}: {turned[1, pair]:.3g}" for pair in pairs],
        title=f"{title(encoding)}: query at {query}, key at {key}, distance {query - key}",
    )
    wide_chart(figure, "pairs", "Each pair of dimensions as a dial with two hands")


def _similar(encoding: Encoding, row: DeltaGenerator) -> None:
    values = compute.similarity(encoding, encoding.length)
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
    values = compute.similarity(encoding, rows * cols)
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
    statistics = compute.products(encoding)
    unit = "distance in patches" if encoding.scheme == "grid" else "distance in positions"
    figure = figures.curves(
        statistics.distance,
        {"mean": statistics.mean},
        title=f"{title(encoding)}: dot product by distance",
        x=unit,
        y="dot product",
        band=(statistics.low, statistics.high),
    )
    chart(figure, "distance", "Mean, smallest and largest dot product at every distance")


def _regrid(encoding: Encoding, row: DeltaGenerator) -> None:
    new = (whole("newrows"), whole("newcols"))
    with row:
        dim = pointer("dim", "Dimension", encoding.width - 1, "Which one the upper row shows")
    figure = figures.facets(
        compute.regridded(encoding, new, dim),
        title=f"{title(encoding)}: dimension {dim}, and cosine with the middle patch",
        x="patch column",
        y="patch row",
        bar="value",
        low=-1,
        high=1,
        across=3,
        height=640,
    )
    wide_chart(figure, "regrid", "A grid of positions, resampled, and recomputed")


def _bias_by_distance(encoding: Encoding, row: DeltaGenerator) -> None:
    """The bias of every head as a curve."""
    distance, values = compute.by_signed_distance(encoding)
    figure = figures.curves(
        distance,
        {f"head {head}": line for head, line in enumerate(values)},
        title=f"{title(encoding)}: bias of every head by distance",
        x="key minus query, in positions",
        y="bias on the score",
    )
    chart(figure, "distance", "The bias of every head at every distance")


def _bias(encoding: Encoding, row: DeltaGenerator) -> None:
    """The bias of every head as a matrix."""
    values = compute.biases(encoding)
    names = [f"head {head}" for head in range(len(values))]
    alibi = encoding.scheme == "alibi"
    if alibi:
        names = [
            f"{n}, slope {s:.3g}" for n, s in zip(names, compute.slopes(encoding), strict=True)
        ]
    # a bias of −8 scales a weight by e^−8 = 0.0003: lower values need no distinct colours
    low, high, bar = (-8, 0, "bias, −8 or less") if alibi else (-3, 3, "bias")
    figure = figures.facets(
        dict(zip(names, values, strict=True)),
        title=f"{title(encoding)}: what each head adds to its scores{_every(encoding)}",
        x="key",
        y="query",
        bar=bar,
        low=low,
        high=high,
        most=MOST,
        height=270 * -(-len(names) // 4) + 90,
    )
    wide_chart(figure, "bias", "One matrix per head: the bias on every score")


def _every(encoding: Encoding) -> str:
    """What the title adds where not every cell of a matrix is drawn."""
    step = figures.stride(encoding.length, MOST)
    if step == 1:
        return ""
    return f" (1 in {step} queries and keys drawn)"


def _buckets(encoding: Encoding, row: DeltaGenerator) -> None:
    """The T5 bucket of every distance."""
    figure = figures.heatmap(
        compute.buckets(encoding),
        title=f"T5 relative: 32 buckets, {encoding.length} positions",
        x="key",
        y="query",
        bar="bucket",
        low=0,
        high=31,
        square=True,
        height=560,
    )
    chart(figure, "buckets", "Which bucket every query and key fall into")


def _alone(encoding: Encoding, row: DeltaGenerator) -> None:
    """The attention from position alone, for all schemes side by side."""
    with row:
        query = pointer("position", "Query", encoding.length - 1, "Whose row is drawn as curves")
        head = pointer("head", "Head", encoding.heads - 1, "Of ALiBi and T5")
    beside = encodings.BESIDE.items()
    by_title = {title: compute.alone(encoding, scheme, head) for scheme, title in beside}
    matrices = figures.facets(
        by_title,
        title=f"Attention that position alone would give, {encoding.length} positions"
        + _every(encoding),
        x="key",
        y="query",
        bar="weight",
        low=0,
        high=max(float(matrix.max()) for matrix in by_title.values()),
        across=3,
        most=MOST,
        height=480,
    )
    lines = figures.curves(
        np.arange(encoding.length),
        {title: matrix[query] for title, matrix in by_title.items()},
        title=f"The row of query {query}",
        x="key",
        y="weight",
        mark=query,
        height=480,
    )
    left, right = st.columns([3, 2])
    with left:
        wide_chart(matrices, "alone", "One matrix of attention weights per scheme")
    with right:
        chart(lines, "alone_row", f"Weights of query {query} in every scheme")


VIEWS = {
    "table": _table,
    "pairs": _pairs,
    "similar": _similar,
    "tiles": _tiles,
    "distance": _distance,
    "bias": _bias,
    "buckets": _buckets,
    "regrid": _regrid,
    "alone": _alone,
}
