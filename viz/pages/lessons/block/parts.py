"""The second half of the lesson on blocks: depth, and the feed-forward network."""

from typing import TYPE_CHECKING

import streamlit as st

from viz.pages.lessons import frame, tables
from viz.pages.lessons.block import texts as block_texts
from viz.pages.widgets import controls

if TYPE_CHECKING:
    from numpy import ndarray
    from plotly.graph_objects import Figure

    from models.blocks import FeedForward
    from models.lessons.depth import Growth

NAME = "block"
ACTIVATIONS = {"relu": "ReLU", "gelu": "GELU", "tanh": "tanh", "silu": "SiLU"}
DEPTHS = (1, 2, 4, 8, 16)
HIDDEN = 6


def norms() -> None:
    """Pre- and post-norm, deeper and deeper."""
    frame.heading("Norm before or after")
    frame.text(*block_texts.DEPTH_TEXT)
    controls.slider(NAME, "depth", "Blocks", (1, 16), "How many are stacked")
    depth = st.session_state[f"{NAME}_depth"]
    import numpy as np

    both = {f"{norm}-norm": _growth(norm, depth) for norm in ("pre", "post")}
    last = {
        f"{norm}-norm": np.array([_last(norm, blocks) for blocks in DEPTHS])
        for norm in ("pre", "post")
    }
    sizes = _by_block(
        np.arange(depth + 1),
        {name: found.sizes.numpy() for name, found in both.items()},
        title=f"Size of the states (root mean square), {depth} blocks",
        x="after block",
        y="size",
    )
    gradients = _by_block(
        np.array(DEPTHS),
        last,
        title="Gradient of the last block, by how many there are",
        x="blocks",
        y="length of the gradient",
    )
    left, right = st.columns(2)
    with left:
        frame.figure(NAME, sizes, "sizes", "Size of the states after each block")
    with right:
        frame.figure(NAME, gradients, "gradients", "Gradient of the last block by depth")
    _ends(both, depth)


def _by_block(
    at: "ndarray", lines: "dict[str, ndarray]", *, title: str, x: str, y: str
) -> "Figure":
    from viz import figures

    return figures.curves(at, lines, title=title, x=x, y=y, steps=True, height=300)


def _ends(both: "dict[str, Growth]", depth: int) -> None:
    """Both ways' numbers at the end of this stack."""
    frame.shapes(
        *(
            (f"{name}, after block {depth}", tables.number(found.sizes[-1].item()))
            for name, found in both.items()
        ),
        *(
            (f"{norm}-norm, last gradient", tables.number(_last(norm, depth)))
            for norm in ("pre", "post")
        ),
    )


@st.cache_resource(max_entries=64, show_spinner=False)
def _growth(norm: str, depth: int) -> "Growth":
    from models.lessons.depth import growth

    return growth(norm, depth)


@st.cache_resource(max_entries=64, show_spinner=False)
def _last(norm: str, depth: int) -> float:
    from models.lessons.depth import last_gradient

    return last_gradient(norm, depth)


def feed_forward(vector: list[float]) -> None:
    """The two layers on the normed vector, alone and beside other words."""
    import torch

    from models.blocks import FeedForward
    from models.seeding import seeded

    frame.heading("The feed-forward network")
    frame.text(*(text.format(hidden=HIDDEN) for text in block_texts.FEED_TEXT))
    frame.formula(r"f(x) = W_2\,\operatorname{bend}(W_1 x + b_1) + b_2")
    controls.choice(NAME, "activation", "Bend", ACTIVATIONS, "The activation between the layers")
    with seeded(0):
        layer = FeedForward(
            len(vector), HIDDEN, activation=st.session_state[f"{NAME}_activation"]
        ).eval()
        company = torch.randn(2, len(vector))
    x = torch.tensor([vector])
    with torch.no_grad():
        up = layer.up(x)
        bent, out = layer.activation(up), layer(x[None])[0]
        beside = layer(torch.cat([x, company])[None])[0, :1]
    _matrices(layer)
    shown = {"x": x, "Up: W_{1} x + b_{1}": up, "Bent": bent, "Down: W_{2} · bent + b_{2}": out}
    frame.show(
        tables.row(
            *(
                tables.matrix(values.tolist(), title=title, axes=("word", "feature"), kind="signed")
                for title, values in shown.items()
            )
        ),
        tables.lines(_first(layer, vector, up[0, 0].item())),
        tables.facts(
            ("[[parameters]]", f"{sum(p.numel() for p in layer.parameters()):,}"),
            (
                "alone and beside two words: largest difference (rounding)",
                f"{(out - beside).abs().max().item():.1e}",
            ),
        ),
    )


def _matrices(layer: "FeedForward") -> None:
    """What the network would learn."""
    parts = {"W_{1}": layer.up.weight, "W_{2}": layer.down.weight}
    biases = {"b_{1}": layer.up.bias, "b_{2}": layer.down.bias}
    shown = {**parts, **{name: bias[:, None] for name, bias in biases.items()}}
    with st.expander("The matrices", expanded=frame.printing(NAME)):
        frame.show(
            tables.row(
                *(
                    tables.matrix(
                        values.tolist(), title=name, axes=("row", "column"), kind="signed", digits=3
                    )
                    for name, values in shown.items()
                )
            )
        )


def _first(layer: "FeedForward", vector: list[float], found: float) -> str:
    """The first number of `up` as the sum it is."""
    row, bias = layer.up.weight[0].tolist(), layer.up.bias[0].item()
    products = " + ".join(
        f"{tables.number(w, 3)}·{tables.number(v, 3)}" for w, v in zip(row, vector, strict=True)
    )
    return (
        f"**Up**, feature 1: {products} + {tables.number(bias, 3)} = **{tables.number(found, 3)}**"
    )
