"""Which model a page shows: a trained one, or an encoder built here with live controls."""

import streamlit as st

from viz import link
from viz.pages.controls import choice, seed, slider
from viz.pages.shared import Choice, device_choice

POSITIONS = ("sinusoidal", "learned", "rotary", "alibi", "relative", "none")
NORMS = ("post", "pre")
PARAMS = (
    link.choice("model", "minilm", ("minilm", "built")),
    link.number("heads", 4, 1, 16),
    link.number("dim", 64, 8, 256, 8),
    link.number("depth", 4, 1, 12),
    link.choice("positions", "sinusoidal", POSITIONS),
    link.choice("norm", "post", NORMS),
    link.number("seed", 0, 0, 999),
)
TITLES = {"minilm": "MiniLM (trained)", "built": "Build one (untrained)"}
FIELDS = ("heads", "dim", "depth", "positions", "norm", "seed")


def model(page: str) -> None:
    """The switch between the models."""
    choice(
        page,
        "model",
        "Model",
        TITLES,
        "MiniLM is a real pretrained transformer. Or build an encoder here and change its"
        " sizes: its weights are random, so its pictures show architecture, not learning.",
    )
    device_choice()


def choose(page: str) -> Choice:
    """The chosen model; for one that is built here, with its controls."""
    if st.session_state[f"{page}_model"] == "built":
        _controls(page)
    values = {name: st.session_state[f"{page}_{name}"] for name in FIELDS}
    return Choice(st.session_state[f"{page}_model"], **values)


def _controls(page: str) -> None:
    with st.container(key=f"{page}_controls", horizontal=True, gap="medium"):
        slider(page, "heads", "Heads", (1, 16), "How many attentions run side by side")
        told = "Width of the model; each head gets dim / heads"
        slider(page, "dim", "Dim", (8, 256), told, step=8)
        slider(page, "depth", "Depth", (1, 12), "How many blocks, one layer of attention each")
        told = "How order gets in; none: no order"
        choice(page, "positions", "Positions", {name: name for name in POSITIONS}, told)
        told = "LayerNorm after (post) or before (pre) each part"
        choice(page, "norm", "Norm", {name: name for name in NORMS}, told)
        seed(page)
