"""Many heads: split, wide or of any width; one after another or at once; and those of MiniLM."""

from typing import TYPE_CHECKING

import streamlit as st

from viz.pages import shared
from viz.pages.lessons import frame, tables
from viz.pages.lessons.heads import numbers as heads_numbers
from viz.pages.lessons.heads import texts as heads_texts
from viz.pages.lessons.heads import trained as heads_trained
from viz.pages.widgets import controls

if TYPE_CHECKING:
    from models.attention import MultiHeadAttention, MultiHeadAttentionConfig

NAME = "heads"
STEPS = ("project", "split", "scores", "softmax", "· v", "join", "$W^O$")
WIDTHS = {"split": "model width / heads", "wide": "model width", "free": "free"}
SCALES = {"sqrt": "q·k by √d", "fourth root": "q and k by ∜d each"}
PROJECTIONS = {"always": "always", "needed": "left out where nothing is joined"}
PARAMS = (
    frame.link.number("dim", 16, 1, 128),
    frame.link.number("heads", 4, 1, 20),
    frame.link.choice("width", "split", WIDTHS),
    frame.link.number("own", 64, 1, 64),
    frame.link.number("reads", 0, 0, 128),
    frame.link.number("tokens", 4, 1, 8),
    frame.link.number("batch", 1, 1, 16),
    frame.link.choice("scaling", "sqrt", SCALES),
    frame.link.choice("project", "always", PROJECTIONS),
    frame.link.number("seed", 0, 0, 999),
    frame.step(STEPS),
    frame.link.text("sentence", "The animal didn't cross the street because it was too tired."),
    frame.link.number("layer", 0, 0, 5),
    frame.link.number("head", 2, 0, 11),
    frame.link.choice("among", "all", heads_trained.AMONG),
)


def draw() -> None:
    """The lesson, top to bottom."""
    frame.text(*heads_texts.TEXT)
    frame.formula(
        r"\text{head}_i = \operatorname{softmax}\!\Big(\frac{(X W^Q_i)(X W^K_i)^\top}{\sqrt{d}}"
        r"\Big) X W^V_i",
        r"\text{out} = [\text{head}_1 \dots \text{head}_h]\, W^O",
    )
    frame.text(heads_texts.WHERE)
    frame.heading("A layer with random weights")
    frame.text(heads_texts.LAYER)
    _controls()
    at = frame.stepper(NAME, STEPS)
    try:
        _layer(at)
    except ValueError as error:
        shared.error_line(error)
    frame.tries(NAME, *heads_texts.TRIES)
    frame.heading("The heads of a trained model")
    frame.text(*heads_texts.TRAINED_TEXT)
    try:
        heads_trained.draw()
    except ValueError as error:
        shared.error_line(error)
    frame.tries(NAME, *heads_texts.TRAINED_TRIES, part="trained")
    _code()
    frame.took(*heads_texts.TAKEN)


def _controls() -> None:
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        told = "How many numbers of each token come out"
        controls.slider(NAME, "dim", "Model width (dim)", (1, 128), told)
        controls.slider(NAME, "heads", "Heads", (1, 20), "How many run side by side")
        told = "How many numbers a query, key or value has in each head"
        controls.choice(NAME, "width", "Width of each head, d", WIDTHS, told)
        if st.session_state[f"{NAME}_width"] == "free":
            controls.slider(NAME, "own", "d", (1, 64), told)
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        controls.slider(NAME, "tokens", "Tokens", (1, 8), "How many words a text has")
        controls.slider(NAME, "batch", "Texts at once", (1, 16), "The batch")
        told = "How many numbers of each token go in; at 0 as many as come out"
        controls.slider(NAME, "reads", "Input width (0: model's)", (0, 128), told, width=180)
        controls.seed(NAME)
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        told = "Where dot products are made smaller: lesson 4 shows the difference"
        controls.choice(NAME, "scaling", "Divide", SCALES, told)
        told = "One head as wide as the model has nothing to join and can do without"
        controls.choice(NAME, "project", "$W^O$", PROJECTIONS, told)


def _config() -> "MultiHeadAttentionConfig":
    from models.attention import MultiHeadAttentionConfig

    said = {name: st.session_state[f"{NAME}_{name}"] for name in ("dim", "heads", "own", "reads")}
    widths = {"split": None, "wide": said["dim"], "free": said["own"]}
    return MultiHeadAttentionConfig(
        dim=said["dim"],
        heads=said["heads"],
        head_dim=widths[st.session_state[f"{NAME}_width"]],
        input_dim=said["reads"] or None,
        dot_scaling=st.session_state[f"{NAME}_scaling"],
        out_projection=st.session_state[f"{NAME}_project"],
    )


def _layer(at: int) -> None:
    """The layer's shapes, its heads' weights, and the two ways to work it out."""
    import torch

    from models.attention import MultiHeadAttention
    from models.seeding import seeded
    from models.simple import head_by_head

    config, state = _config(), st.session_state
    with seeded(state[f"{NAME}_seed"]):
        layer = MultiHeadAttention(config).eval()
        reads = config.dim if config.input_dim is None else config.input_dim
        x = torch.randn(state[f"{NAME}_batch"], state[f"{NAME}_tokens"], reads)
    with torch.no_grad():
        out, pattern = layer(x)
        again, _ = head_by_head(layer, x)
    _shapes(config, x.shape, at)
    heads_numbers.projected(pattern, divided=config.dot_scaling == "fourth root", split=at >= 1)
    if at >= 2:
        heads_numbers.weights(pattern, softmaxed=at >= 3)
    if at >= STEPS.index("· v"):
        heads_numbers.values(pattern, joined=at > STEPS.index("· v"))
    if at >= len(STEPS) - 1:
        _both_ways(out[0, 0].tolist(), again[0, 0].tolist(), (out - again).abs().max().item())
    _parameters(layer)


def _shapes(config: "MultiHeadAttentionConfig", x: tuple[int, ...], at: int) -> None:
    """What every step gives."""
    batch, tokens, reads = x
    inside, width = config.heads * config.width, config.width
    flat, split = f"{batch} × {tokens} × {inside}", f"{batch} × {config.heads} × {tokens} × {width}"
    square = f"{batch} × {config.heads} × {tokens} × {tokens}"
    out = "W^{O} (left out)" if not config.projects else f"W^{{O}} {config.merged} × {config.dim}"
    divided = (
        f"q kᵀ / √{width}" if config.dot_scaling == "sqrt" else f"(q / ∜{width}) (k / ∜{width})ᵀ"
    )
    lines = [
        f"**1 project** x {batch} × {tokens} × {reads} times three matrices {reads} × {inside}:"
        f" q, k, v {flat}",
        f"**2 split** every token's {inside} numbers into"
        f" {tables.counted(config.heads, 'head')} of {width}: {split}",
        f"**3 scores** {divided} in every head: {square}",
        f"**4 softmax** of every row: {square}",
        f"**5 · v** weighted sums of values: {split}",
        f"**6 join** the heads side by side again: {flat}",
        f"**7 {out}** gives {batch} × {tokens} × {config.dim}",
    ]
    frame.show(tables.lines(*lines[: at + 1]))


def _both_ways(once: list[float], looped: list[float], far: float) -> None:
    wide = min(heads_numbers.SHOWN, len(once))
    frame.show(
        tables.matrix(
            [once[:wide], looped[:wide]],
            title="Token 1 of the result, worked out both ways",
            rows=("all heads at once", "one after another"),
            axes=("way", "feature"),
            note=f"Largest difference anywhere: {far:.1e}; numbers of 32 bits have seven digits.",
        )
    )


def _parameters(layer: "MultiHeadAttention") -> None:
    parts = {"W^{Q}": layer.query, "W^{K}": layer.key, "W^{V}": layer.value, "W^{O}": layer.out}
    counted = {name: sum(p.numel() for p in part.parameters()) for name, part in parts.items()}
    frame.shapes(
        *((name, f"{count:,}") for name, count in counted.items()),
        ("[[Parameters]] with biases", f"{sum(counted.values()):,}"),
    )


def _code() -> None:
    from analysis import habits
    from models.attention import MultiHeadAttention
    from models.simple import head_by_head

    frame.code(NAME, MultiHeadAttention.forward, head_by_head, habits.habits)
