"""The views of the Positions page that show what positions do to scores and weights."""

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from viz import figures
from viz.pages.positions import encodings
from viz.pages.positions.charts import chart, title, wide_chart
from viz.pages.positions.controls import pointer
from viz.pages.positions.encodings import Encoding


def by_distance(encoding: Encoding, row: DeltaGenerator) -> None:
    """The bias of every head as a curve."""
    distance, values = encodings.by_signed_distance(encoding)
    figure = figures.curves(
        distance,
        {f"head {head}": line for head, line in enumerate(values)},
        title=f"{title(encoding)}: bias of every head by distance",
        x="key minus query, in positions",
        y="bias on the score",
    )
    chart(figure, "distance", "The bias of every head at every distance")


def per_head(encoding: Encoding, row: DeltaGenerator) -> None:
    """The bias of every head as a matrix."""
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
        title=f"{title(encoding)}: what each head adds to its scores",
        x="key",
        y="query",
        bar=bar,
        low=low,
        high=high,
        height=270 * -(-len(names) // 4) + 90,
    )
    wide_chart(figure, "bias", "One matrix per head: the bias on every score")


def buckets(encoding: Encoding, row: DeltaGenerator) -> None:
    """Which learned number every distance gets in T5."""
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
    chart(figure, "buckets", "Which bucket every query and key fall into")


def alone(encoding: Encoding, row: DeltaGenerator) -> None:
    """All schemes side by side: the attention that position alone would give."""
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
        wide_chart(matrices, "alone", "One matrix of attention weights per scheme")
    with right:
        chart(lines, "alone_row", f"Weights of query {query} in every scheme")
