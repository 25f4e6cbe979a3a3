"""The views of the Positions page: each puts its figures on the page."""

import numpy as np
import plotly.graph_objects as go
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from viz import figures, positions
from viz.pages import encodings
from viz.pages.encodings import Encoding
from viz.pages.position_controls import PAGE, SCHEMES, pointer, value, whole

# In a narrow window figures of many small parts keep a legible width and are pushed sideways, and
# choices go on in a second line: a row of them that scrolls slips away under the finger.
STYLE = """<style>
[class*="st-key-positions_wide"] { overflow-x: auto; }
[class*="st-key-positions_wide"] .stElementContainer { min-width: 800px; }
[class*="st-key-positions_"] [role="radiogroup"] { flex-wrap: wrap; row-gap: .3rem; }
</style>"""
CONFIG = {"displaylogo": False, "toImageButtonOptions": {"format": "svg"}}


def draw(encoding: Encoding, view: str, row: DeltaGenerator) -> None:
    """The figures of one view; those of the others are not made. Its pointers go into the row."""
    st.html(STYLE)
    by_bias = view == "distance" and encoding.scheme in ("alibi", "relative")
    (_bias_by_distance if by_bias else VIEWS[view])(encoding, row)


def _table(encoding: Encoding, row: DeltaGenerator) -> None:
    values = encodings.table(encoding)
    length, width = values.shape
    with row:
        position = pointer("position", "Position", length - 1, "Whose code is shown")
        dim = pointer("dim", "Dimension", width - 1, "Whose wave is shown")
    low, high = _span(values)
    left, right = st.columns([3, 2])
    with left:
        heat = figures.heatmap(
            values,
            title=f"{_title(encoding)}: {length} positions × {width} dimensions",
            x="dimension",
            y="position",
            bar="value",
            low=low,
            high=high,
            mark=(position, dim),
            height=520,
        )
        _chart(heat, "table", "Heat map of every position's numbers")
    with right:
        wave = figures.curves(
            np.arange(length),
            {f"dimension {dim}": values[:, dim]},
            title=f"The wave of dimension {dim}",
            x="position",
            y="value",
            mark=position,
            span=(1.05 * low, 1.05 * high),
            height=255,
        )
        _chart(wave, "wave", f"Dimension {dim} over the positions")
        code = figures.curves(
            np.arange(width),
            {f"position {position}": values[position]},
            title=f"The code of position {position}",
            x="dimension",
            y="value",
            mark=dim,
            steps=width <= 128,
            span=(1.05 * low, 1.05 * high),
            height=255,
        )
        _chart(code, "code", f"The numbers of position {position}")


def _pairs(encoding: Encoding, row: DeltaGenerator) -> None:
    turned = encodings.angles(encoding)
    length, count = turned.shape
    with row:
        query = pointer("position", "Position of the query", length - 1, "Turns the query's hands")
        key = pointer("key", "Position of the key", length - 1, "Turns the key's hands")
    shown = sorted({number * (count - 1) // 15 for number in range(16)})
    figure = positions.pairs(
        turned[query, shown],
        turned[key, shown],
        [f"pair {pair}: {turned[1, pair]:.3g}" for pair in shown],
        title=f"{_title(encoding)}: query at {query}, key at {key}, distance {query - key}",
    )
    _wide_chart(figure, "pairs", "Each pair of dimensions as a dial with two hands")


def _similar(encoding: Encoding, row: DeltaGenerator) -> None:
    values = encodings.similarity(encoding, encoding.length)
    length, (low, high) = len(values), _cosines(values)
    with row:
        position = pointer("position", "Position", length - 1, "Which row is drawn as a curve")
    left, right = st.columns(2)
    with left:
        matrix = figures.heatmap(
            values,
            title=f"{_title(encoding)}: cosine of every two positions",
            x="position",
            y="position",
            bar="cosine",
            low=low,
            high=high,
            mark=(position, None),
            square=True,
            height=500,
        )
        _chart(matrix, "similar", "Cosine similarity of every two positions")
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
        _chart(line, "similar_row", f"Cosine of position {position} with all others")


def _tiles(encoding: Encoding, row: DeltaGenerator) -> None:
    rows, cols = encoding.rows, encoding.cols
    values = encodings.similarity(encoding, rows * cols)
    low, high = _cosines(values)
    figure = positions.tiles(
        values,
        rows,
        cols,
        title=f"{_title(encoding)}: each patch with all patches of a {rows} × {cols} grid",
        bar="cosine",
        low=low,
        high=high,
    )
    _wide_chart(figure, "tiles", "A grid of tiles, one per patch: its cosine with every patch")


def _distance(encoding: Encoding, row: DeltaGenerator) -> None:
    found = encodings.products(encoding)
    unit = "distance in patches" if encoding.scheme == "grid" else "distance in positions"
    figure = figures.curves(
        found.distance,
        {"mean": found.mean},
        title=f"{_title(encoding)}: dot product by distance",
        x=unit,
        y="dot product",
        band=(found.low, found.high),
    )
    _chart(figure, "distance", "Mean, smallest and largest dot product at every distance")


def _bias_by_distance(encoding: Encoding, row: DeltaGenerator) -> None:
    distance, values = encodings.by_signed_distance(encoding)
    figure = figures.curves(
        distance,
        {f"head {head}": line for head, line in enumerate(values)},
        title=f"{_title(encoding)}: bias of every head by distance",
        x="key minus query, in positions",
        y="bias on the score",
    )
    _chart(figure, "distance", "The bias of every head at every distance")


def _bias(encoding: Encoding, row: DeltaGenerator) -> None:
    values = encodings.biases(encoding)
    names = [f"head {head}" for head in range(len(values))]
    alibi = encoding.scheme == "alibi"
    if alibi:
        names = [
            f"{n}, slope {s:.3g}" for n, s in zip(names, encodings.slopes(encoding), strict=True)
        ]
    # a bias of −8 leaves e^−8 = 0.0003 of a weight: what is below looks alike
    low, high, bar = (-8, 0, "bias, −8 or less") if alibi else (-3, 3, "bias")
    figure = figures.facets(
        dict(zip(names, values, strict=True)),
        title=f"{_title(encoding)}: what each head adds to its scores",
        x="key",
        y="query",
        bar=bar,
        low=low,
        high=high,
        height=270 * -(-len(names) // 4) + 90,
    )
    _wide_chart(figure, "bias", "One matrix per head: the bias on every score")


def _buckets(encoding: Encoding, row: DeltaGenerator) -> None:
    figure = figures.heatmap(
        encodings.buckets(encoding),
        title=f"T5 relative: 32 buckets, {encoding.length} positions",
        x="key",
        y="query",
        bar="bucket",
        low=0,
        high=31,
        square=True,
        height=560,
    )
    _chart(figure, "buckets", "Which bucket every query and key fall into")


def _regrid(encoding: Encoding, row: DeltaGenerator) -> None:
    new = (whole("newrows"), whole("newcols"))
    with row:
        dim = pointer("dim", "Dimension", encoding.width - 1, "Which one the upper row shows")
    figure = figures.facets(
        encodings.regridded(encoding, new, dim),
        title=f"{_title(encoding)}: dimension {dim}, and cosine with the middle patch",
        x="patch column",
        y="patch row",
        bar="value",
        low=-1,
        high=1,
        across=3,
        height=640,
    )
    _wide_chart(figure, "regrid", "A grid of positions, resampled, and made anew")


def _alone(encoding: Encoding, row: DeltaGenerator) -> None:
    with row:
        query = pointer("position", "Query", encoding.length - 1, "Whose row is drawn as curves")
        head = pointer("head", "Head", encoding.heads - 1, "Of ALiBi and T5")
    beside = encodings.BESIDE.items()
    found = {title: encodings.alone(encoding, scheme, head) for scheme, title in beside}
    matrices = figures.facets(
        found,
        title=f"Attention that position alone would give, {encoding.length} positions",
        x="key",
        y="query",
        bar="weight",
        low=0,
        high=max(float(matrix.max()) for matrix in found.values()),
        across=3,
        height=480,
    )
    lines = figures.curves(
        np.arange(encoding.length),
        {title: matrix[query] for title, matrix in found.items()},
        title=f"The row of query {query}",
        x="key",
        y="weight",
        mark=query,
        height=480,
    )
    left, right = st.columns([3, 2])
    with left:
        _wide_chart(matrices, "alone", "One matrix of attention weights per scheme")
    with right:
        _chart(lines, "alone_row", f"Weights of query {query} in every scheme")


def _chart(figure: go.Figure, name: str, alt: str) -> None:
    st.plotly_chart(figure, key=f"{PAGE}_chart_{name}", config=CONFIG, alt=alt)


def _wide_chart(figure: go.Figure, name: str, alt: str) -> None:
    with st.container(key=f"{PAGE}_wide_{name}"):
        _chart(figure, name, alt)


def _title(encoding: Encoding) -> str:
    """Which scheme, with the settings that count."""
    name = SCHEMES[encoding.scheme]
    if encoding.scheme == "learned":
        return "MiniLM's learned positions" if encoding.trained else "Random (untrained)"
    if encoding.scheme == "relative":
        return f"{name} (untrained: random)"
    return name if encoding.scheme == "alibi" else f"{name}, base {encoding.base:,.0f}"


def _span(values: np.ndarray) -> tuple[float, float]:
    """A range around zero that holds the values; waves are from −1 to 1 by meaning."""
    largest = float(abs(values).max())
    return (-1.0, 1.0) if 0.5 < largest <= 1 else (-largest, largest)


def _cosines(values: np.ndarray) -> tuple[float, float]:
    """Every cosine there can be, or those that there are."""
    own = value("scale") == "own" and values.min() < values.max()
    return (float(values.min()), float(values.max())) if own else (-1.0, 1.0)


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
