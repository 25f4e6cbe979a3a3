"""Positions: where order comes from, scheme by scheme."""

from typing import TYPE_CHECKING, Any

import numpy as np
import plotly.graph_objects as go
import streamlit as st
from headscope_views import view
from streamlit.delta_generator import DeltaGenerator

from viz import figures
from viz.pages import shared
from viz.pages.positions import compute
from viz.pages.state import link_on_entry, session
from viz.pages.state import params as link
from viz.pages.widgets import attention, charts, controls

if TYPE_CHECKING:
    from viz.pages.positions.compute import Encoding

PAGE = "positions"
SCHEMES = {
    "sinusoidal": "Sinusoidal",
    "learned": "Learned",
    "grid": "2-D sin-cos",
    "rotary": "Rotary",
    "alibi": "ALiBi",
    "relative": "T5 relative",
}
BIASES = ("alibi", "relative")
BASES = {base: f"{int(base):,}" for base in ("10", "100", "1000", "10000", "100000", "1000000")}
SOURCES = {"minilm": "MiniLM (trained)", "random": "Random (untrained)"}
KEYS = {"both": "Both sides", "causal": "Causal"}
PARAMS = (
    link.choice("scheme", "sinusoidal", SCHEMES),
    link.number("length", 64, 8, 512, 8),
    link.number("width", 64, 8, 512, 4),
    link.choice("base", "10000", BASES),
    link.choice("source", "minilm", SOURCES),
    link.number("seed", 0, 0, 999),
    link.number("rows", 14, 2, 20),
    link.number("cols", 14, 2, 20),
    link.number("heads", 8, 1, 16),
    link.number("head", 0, 0, 15),
    link.choice("keys", "both", KEYS),
    link.number("position", 20, 0, 511),
    link.number("dim", 4, 0, 511),
)
SHOWS = {
    "sinusoidal": "One row per position, one column per dimension: low dimensions are fast waves,"
    " high ones slow, like the hands of many clocks. The row is added to the token's vector.",
    "learned": "One row per position, one column per dimension: learned numbers, added to the"
    " token's vector.",
    "grid": "One row per patch, numbered row by row: the left half of the dimensions encodes the"
    " column, and repeats with every row of patches; the right half encodes the row.",
    "rotary": "Cosines (left half) and sines (right half) of the angle by which each pair is"
    " rotated at each position. Nothing is added to the token: queries and keys are rotated, and"
    " their product depends on their distance alone.",
    "alibi": "What each head adds to its scores: minus its slope times the distance. Nothing is"
    " learned and nothing is added to the tokens.",
    "relative": "What each head adds to its scores: one number for each bucket of distances. Near"
    " distances have a bucket each, far ones share. These numbers are random: untrained.",
}
NOT_PROVED = (
    "Similarity is not attention: a head's own matrices stand between these vectors and its weights"
    " and may read some dimensions and ignore the rest.",
    "Content can outweigh a bias: it is added to scores of any size.",
)
SLIDER, LOWER = 120, 300  # pixels: width of a slider, height of what is below a matrix
SHARE = 99  # percent of a learned table's numbers; its few outliers have the last colour
COSINE: dict[str, Any] = {"bar": "cosine", "low": -1, "high": 1, "square": True}
COLOURS = {"alibi": (-8, 0), "relative": (-3, 3)}  # e^−8 = 0.0003: lower biases look alike

Drawn = list[tuple[go.Figure, str, str]]  # charts, each with its name and its text alternative


def page() -> None:
    """Draws the page."""
    problems = link_on_entry.enter(PAGE, PARAMS, frozenset()).problems
    st.markdown("#### Where does order come from?")
    for problem in problems:
        shared.error_line(problem)
    scheme = controls.choice(PAGE, "scheme", "Scheme", SCHEMES, "How positions are encoded")
    row = st.container(key=f"{PAGE}_controls", horizontal=True, gap="small")
    st.markdown(SHOWS[scheme])
    try:
        with charts.saved(PAGE, "view", f"{SCHEMES[scheme]} positions"):
            drawn = (_of_biases if scheme in BIASES else _of_table)(_encoding(scheme, row), row)
            for first in range(0, len(drawn), 2):
                for column, (figure, name, alt) in zip(st.columns(2), drawn[first:], strict=False):
                    with column:
                        charts.chart(PAGE, figure, name, alt)
        st.caption(NOT_PROVED[scheme in BIASES])
    except ValueError as error:
        shared.error_line(error)
    view("mode", {}, key=f"{PAGE}_mode")
    attention.address(PAGE, PARAMS)


def _encoding(scheme: str, row: DeltaGenerator) -> "Encoding":
    """Draws the controls of a scheme, and returns the encoding that they describe."""
    with row:
        if scheme == "learned":
            help = "MiniLM's trained table, or a random one, as at the start of training"
            controls.choice(PAGE, "source", "Learned table", SOURCES, help)
        trained = scheme == "learned" and session.get(PAGE, "source") == "minilm"
        if scheme == "grid":
            _slider("rows", "Patch rows", (2, 20), "ViT-B/16 has 14 × 14 patches at 224 pixels")
            _slider("cols", "Patch columns", (2, 20), "Patches are numbered row by row")
        else:
            _slider("length", "Length", (8, 512), "Number of positions", step=8)
        if scheme in BIASES:
            _slider("heads", "Heads", (1, 16), "Number of heads, each with its own bias")
            controls.choice(PAGE, "keys", "Keys", KEYS, "Causal: keys after the query are hidden")
        elif not trained:
            _slider("width", "Width", (8, 512), "Number of dimensions", step=4)
        if scheme in ("sinusoidal", "grid", "rotary"):
            help = "Wavelengths range from 2π to 2π times the base"
            controls.select(PAGE, "base", "Base", BASES, help, width=SLIDER)
        elif scheme == "relative" or (scheme == "learned" and not trained):
            controls.seed(PAGE, "Seed of everything that is random")
    now = session.current(PAGE).settings
    grid = now["rows"], now["cols"]
    return compute.Encoding(
        scheme=scheme,
        length=grid[0] * grid[1] if scheme == "grid" else now["length"],
        width=now["width"],
        base=float(now["base"]),
        grid=grid,
        heads=now["heads"],
        causal=now["keys"] == "causal",
        trained=trained,
        seed=now["seed"],
        device=shared.device(),
    )


def _of_table(encoding: "Encoding", row: DeltaGenerator) -> Drawn:
    """A table and the similarities of its rows, each above the curve of what is pointed at."""
    values, similar = compute.table(encoding), compute.similarity(encoding)
    length, width = values.shape
    with row:
        position = _pointer("position", "Position", length, "Whose similarities are shown")
        dim = _pointer("dim", "Dimension", width, "Whose wave is shown")
    learned = encoding.scheme == "learned"
    end = float(np.percentile(abs(values), SHARE)) if learned else 1.0
    table = figures.heatmap(
        values,
        title=f"{_name(encoding)}: {length} positions × {width} dimensions",
        x="dimension",
        y="position",
        mark=(position, dim),
        bar=f"value, clipped at ±{end:.2g}" if learned else "value",
        low=-end,
        high=end,
    )
    title, axes = "Cosine of every two positions", {"x": "position", "y": "position"}
    every = figures.heatmap(similar, title=title, mark=(position, None), **axes, **COSINE)
    line: dict[str, Any] = {"x": "position", "mark": position, "height": LOWER}
    numbers, title = {f"dimension {dim}": values[:, dim]}, f"The wave of dimension {dim}"
    wave = figures.curves(np.arange(length), numbers, title=title, y="value", **line)
    title, row_of = f"Position {position} with all others", similar[position]
    if encoding.scheme == "grid":
        axes = {"x": "patch column", "y": "patch row"}
        place: dict[str, Any] = {"mark": divmod(position, encoding.grid[1]), "height": LOWER}
        cells = row_of.reshape(encoding.grid)
        others = figures.heatmap(cells, title=title, **axes, **place, **COSINE)
    else:
        line |= {"title": title, "y": "cosine", "span": (-1.05, 1.05)}
        others = figures.curves(np.arange(length), {"cosine": row_of}, **line)
    return [
        (table, "table", "Every position's numbers"),
        (every, "similar", "Cosine similarity of every two positions"),
        (wave, "wave", f"Dimension {dim} over the positions"),
        (others, "similar_row", f"Cosine of position {position} with all others"),
    ]


def _of_biases(encoding: "Encoding", row: DeltaGenerator) -> Drawn:
    """The bias of one head on every score, and that of every head by distance."""
    values = compute.biases(encoding)
    with row:
        head = _pointer("head", "Head", encoding.heads, "Whose biases are drawn as a matrix")
    low, high = COLOURS[encoding.scheme]
    matrix = figures.heatmap(
        values[head],
        title=f"{_name(encoding)}: what head {head} adds to its scores",
        x="key",
        y="query",
        low=low,
        high=high,
        square=True,
        bar="bias, −8 or less" if encoding.scheme == "alibi" else "bias",
    )
    distance, lines = compute.by_distance(values)
    curves = figures.curves(
        distance,
        {f"head {number}": line for number, line in enumerate(lines)},
        title="Bias of every head by distance",
        x="key minus query, in positions",
        y="bias on the score",
    )
    return [
        (matrix, "bias", f"The bias of head {head} on every score"),
        (curves, "distance", "The bias of every head at every distance"),
    ]


def _name(encoding: "Encoding") -> str:
    """The name of a scheme, and where its numbers come from."""
    if encoding.scheme == "learned":
        return "MiniLM's learned positions" if encoding.trained else "Random (untrained)"
    untrained = " (untrained: random)" if encoding.scheme == "relative" else ""
    return SCHEMES[encoding.scheme] + untrained


def _slider(name: str, label: str, span: tuple[int, int], help: str, step: int = 1) -> None:
    controls.slider(PAGE, name, label, span, help, step=step, width=SLIDER)


def _pointer(name: str, label: str, count: int, help: str) -> int:
    """A slider over positions, dimensions or heads, limited to those that there are."""
    if session.get(PAGE, name) >= count:
        session.edit(PAGE, {name: count - 1})
    if count > 1:
        _slider(name, label, (0, count - 1), help)
    return session.get(PAGE, name)
