"""The second half of the lesson on blocks: depth, and the feed-forward network."""

from typing import TYPE_CHECKING

import streamlit as st

from viz.pages import controls
from viz.pages.lesson import frame, tables

if TYPE_CHECKING:
    from models.lessons.depth import Growth

NAME = "block"
ACTIVATIONS = {"relu": "ReLU", "gelu": "GELU", "tanh": "tanh", "silu": "SiLU"}
DEPTHS = (1, 2, 4, 8, 16)
HIDDEN = 6
NORM_TEXT = (
    "The first transformer norms after the sum ([[post-norm]]), most later ones before the layer"
    " ([[pre-norm]]). Here both are stacked, with random weights, and followed forward and back."
    " The [[gradient]] that reaches the last block of a post-norm stack stays as large as in a"
    " small one: without a slow start (a warm-up) the first steps of training are too large for it."
    " In a pre-norm stack it shrinks as more blocks share the work (Xiong et al. 2020).",
)
FEED_TEXT = (
    "The feed-forward network takes your normed vector to more features, bends them, and comes"
    " back. It does this for every word with the same matrices, and looks at no other word: the"
    " result is the same alone and in company. Wider by four is common; here it is"
    f" 4 → {HIDDEN} → 4, with random weights.",
)


def norms() -> None:
    """Pre- and post-norm, deeper and deeper."""
    from viz import figures

    frame.heading("Norm before or after")
    frame.text(*NORM_TEXT)
    controls.slider(NAME, "depth", "Blocks", (1, 16), "How many are stacked")
    depth = st.session_state[f"{NAME}_depth"]
    import numpy as np

    both = {f"{norm}-norm": _growth(norm, depth) for norm in ("pre", "post")}
    sizes = figures.curves(
        np.arange(depth + 1),
        {name: found.sizes.numpy() for name, found in both.items()},
        title=f"Size of the states (root mean square), {depth} blocks",
        x="after block",
        y="size",
        steps=True,
        height=300,
    )
    last = {f"{norm}-norm": np.array(_last(norm)) for norm in ("pre", "post")}
    gradients = figures.curves(
        np.array(DEPTHS),
        last,
        title="Gradient of the last block, by how many there are",
        x="blocks",
        y="length of the gradient",
        steps=True,
        height=300,
    )
    left, right = st.columns(2)
    with left:
        frame.figure(NAME, sizes, "sizes", "Size of the states after each block")
    with right:
        frame.figure(NAME, gradients, "gradients", "Gradient of the last block by depth")
    frame.shapes(
        *(
            (f"{name}, after block {depth}", tables.number(found.sizes[-1].item()))
            for name, found in both.items()
        ),
        *(
            (f"{name}, last gradient", tables.number(found.gradients[-1].item()))
            for name, found in both.items()
        ),
    )


@st.cache_resource(max_entries=64, show_spinner=False)
def _growth(norm: str, depth: int) -> "Growth":
    from models.lessons.depth import growth

    return growth(norm, depth)


@st.cache_resource(max_entries=2, show_spinner=False)
def _last(norm: str) -> list[float]:
    from models.lessons.depth import last_gradient

    return [last_gradient(norm, depth) for depth in DEPTHS]


def feed_forward(vector: list[float]) -> None:
    """The two layers on the normed vector, alone and beside other words."""
    import torch

    from models.layers import FeedForward
    from models.seeding import seeded

    frame.heading("The feed-forward network")
    frame.text(*FEED_TEXT)
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
    shown = {"In": x, "Up": up, "Bent": bent, "Down: out": out}
    frame.show(
        tables.row(
            *(
                tables.matrix(values.tolist(), title=title, axes=("word", "feature"), kind="signed")
                for title, values in shown.items()
            )
        ),
        tables.facts(
            ("W_{1}", f"{HIDDEN} × {len(vector)}"),
            ("W_{2}", f"{len(vector)} × {HIDDEN}"),
            ("[[parameters]]", f"{sum(p.numel() for p in layer.parameters()):,}"),
            ("alone and beside two words differ by", f"{(out - beside).abs().max().item():.1e}"),
        ),
    )
