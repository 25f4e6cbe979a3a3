"""Many heads: split, wide or of any width; one after another or at once; and those of MiniLM."""

from typing import TYPE_CHECKING

import streamlit as st

from viz.pages import controls, shared
from viz.pages.lesson import frame, heads_texts, heads_trained, tables

if TYPE_CHECKING:
    from models.attention import MultiHeadAttention, MultiHeadAttentionConfig, Pattern

NAME = "heads"
STEPS = ("project", "split", "scores", "softmax", "· v", "join", "W_O")
WIDTHS = {"split": "dim / heads each", "wide": "dim each", "free": "free"}
SCALES = {"sqrt": "÷ √d", "fourth root": "÷ ∜d, twice"}
PROJECTIONS = {"always": "always", "needed": "where needed"}
SHOWN = 6  # tokens and heads of which every weight is written
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
    frame.heading("A layer with random weights")
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
    _code()
    frame.took(*heads_texts.TAKEN)


def _controls() -> None:
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        controls.slider(NAME, "dim", "Model width", (1, 128), "How wide what comes out is")
        controls.slider(NAME, "heads", "Heads", (1, 20), "How many run side by side")
        controls.choice(NAME, "width", "Width of a head", WIDTHS, "How wide each head is")
        if st.session_state[f"{NAME}_width"] == "free":
            controls.slider(NAME, "own", "Its width", (1, 64), "Of queries, keys and values")
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        controls.slider(NAME, "tokens", "Tokens", (1, 8), "How many words are read")
        controls.slider(NAME, "batch", "Batch", (1, 16), "How many texts at once")
        told = "How wide what goes in is; 0: as wide as the model"
        controls.slider(NAME, "reads", "Input width", (0, 128), told)
        controls.seed(NAME)
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        controls.choice(NAME, "scaling", "Scale", SCALES, "Where the dot product is made smaller")
        controls.choice(NAME, "project", "W_O", PROJECTIONS, "Whether one wide head has one")


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
    if at >= 2:
        _weights(pattern, softmaxed=at >= 3)
    if at >= STEPS.index("· v"):
        _values(pattern, joined=at > STEPS.index("· v"))
    if at >= len(STEPS) - 1:
        _both_ways(out[0, 0].tolist(), again[0, 0].tolist(), (out - again).abs().max().item())
    _parameters(layer)


def _shapes(config: "MultiHeadAttentionConfig", x: tuple[int, ...], at: int) -> None:
    """What every step gives."""
    batch, tokens, reads = x
    inside, width = config.heads * config.width, config.width
    flat, split = f"{batch} × {tokens} × {inside}", f"{batch} × {config.heads} × {tokens} × {width}"
    square = f"{batch} × {config.heads} × {tokens} × {tokens}"
    out = "W_{O} (left out)" if not config.projects else f"W_{{O}} {config.dim} × {config.merged}"
    lines = [
        f"**1 project** x {batch} × {tokens} × {reads} times three matrices {inside} × {reads}:"
        f" q, k, v {flat}",
        f"**2 split** every token's {inside} numbers into"
        f" {tables.counted(config.heads, 'head')} of {width}: {split}",
        f"**3 scores** q kᵀ / √{width} in every head: {square}",
        f"**4 softmax** of every row: {square}",
        f"**5 · v** weighted sums of values: {split}",
        f"**6 join** the heads side by side again: {flat}",
        f"**7 {out}** gives {batch} × {tokens} × {config.dim}",
    ]
    frame.show(tables.lines(*lines[: at + 1]))


def _weights(pattern: "Pattern", *, softmaxed: bool) -> None:
    found = pattern.weights(item=0) if softmaxed else pattern.scores(item=0)
    heads, tokens = min(SHOWN, found.shape[0]), min(SHOWN, found.shape[1])
    names = [f"token {n}" for n in range(1, tokens + 1)]
    shown = [
        tables.matrix(
            found[head, :tokens, :tokens].tolist(),
            title=f"Head {head}: {'[[weights]]' if softmaxed else '[[score|scores]]'}",
            rows=names,
            axes=("query", "key"),
            kind="weights" if softmaxed else "signed",
            digits=2,
        )
        for head in range(heads)
    ]
    left = [f"{found.shape[0] - heads} more heads"] * (found.shape[0] > heads)
    left += [f"{found.shape[1] - tokens} more tokens"] * (found.shape[1] > tokens)
    frame.show(tables.row(*shown))
    if left:
        st.caption(f"Not drawn: {', '.join(left)}.")


def _values(pattern: "Pattern", *, joined: bool) -> None:
    """What every head gives for the first token, and all of it side by side."""
    from models.lessons.followed import follow

    found = [follow(pattern, head=head).values[0].tolist() for head in range(pattern.heads)]
    wide = min(SHOWN, len(found[0]))
    shown = [
        tables.matrix(
            [row[:wide] for row in found[:SHOWN]],
            title="Token 1: weights · v of every head",
            rows=[f"head {head}" for head in range(len(found[:SHOWN]))],
            axes=("head", "feature"),
            kind="signed",
        )
    ]
    if joined:
        together = [value for row in found for value in row]
        first = [together[: 2 * SHOWN]]
        title = f"Joined: {len(found)} × {len(found[0])} = {len(together)} numbers"
        title += f", the first {len(first[0])}" if len(first[0]) < len(together) else ""
        shown.append(tables.matrix(first, title=title, axes=("token", "number"), kind="signed"))
    frame.show(tables.row(*shown))


def _both_ways(once: list[float], looped: list[float], far: float) -> None:
    wide = min(SHOWN, len(once))
    frame.show(
        tables.matrix(
            [once[:wide], looped[:wide]],
            title="Token 1 of the result, worked out both ways",
            rows=("all heads at once", "one after another"),
            axes=("way", "feature"),
            note=f"Largest difference anywhere: {far:.1e}; a float32 has seven digits.",
        )
    )


def _parameters(layer: "MultiHeadAttention") -> None:
    parts = {"W_{Q}": layer.query, "W_{K}": layer.key, "W_{V}": layer.value, "W_{O}": layer.out}
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
