"""Which model a page shows: a trained one, or an encoder built here with live controls."""

from collections.abc import Callable

import streamlit as st

from models.catalogue import catalogue
from viz import link
from viz.pages.controls import choice, seed, slider
from viz.pages.shared import Choice, device_choice

BUILT = "built"
TITLES = {known.name: known.title for known in catalogue() if known.reads == "text"} | {
    BUILT: "Build one (untrained)"
}

SLIDER = 120  # pixels: all controls stand in one row of a small laptop
POSITIONS = ("sinusoidal", "learned", "rotary", "alibi", "relative", "none")
NORMS = ("post", "pre")
MODEL = link.choice("model", "minilm", TITLES)
PARAMS = (
    MODEL,
    link.number("heads", 4, 1, 16),
    link.number("dim", 64, 8, 256, 8),
    link.number("depth", 4, 1, 12),
    link.choice("positions", "sinusoidal", POSITIONS),
    link.choice("norm", "post", NORMS),
    link.number("seed", 0, 0, 999),
)
FIELDS = ("heads", "dim", "depth", "positions", "norm", "seed")


def model(page: str, chosen: Callable[[str], None]) -> None:
    """The choice of a model; `chosen` is called when it changes."""
    st.selectbox(
        "Model",
        options=list(TITLES),
        format_func=TITLES.__getitem__,
        key=f"{page}_model",
        on_change=chosen,
        args=(page,),
        persist_state="session",
        width=230,
        help="MiniLM is a real pretrained transformer; most others are small, trained for this app"
        " on tasks that need attention. Or build an encoder here and change its sizes: its weights"
        " are random, so its pictures show architecture, not learning.",
    )
    device_choice()


def chosen(page: str) -> Choice:
    """The chosen model, with the sizes of one that is built here."""
    values = {name: st.session_state[f"{page}_{name}"] for name in FIELDS}
    return Choice(st.session_state[f"{page}_model"], **values)


def controls(page: str) -> None:
    """The sizes of a model that is built here."""
    if st.session_state[f"{page}_model"] != BUILT:
        return
    with st.container(key=f"{page}_controls", horizontal=True, gap="small"):
        told = "How many attentions run side by side"
        slider(page, "heads", "Heads", (1, 16), told, width=SLIDER)
        told = "Width of the model; each head gets dim / heads"
        slider(page, "dim", "Dim", (8, 256), told, step=8, width=SLIDER)
        told = "How many blocks, one layer of attention each"
        slider(page, "depth", "Depth", (1, 12), told, width=SLIDER)
        told = "How order gets in; none: no order"
        choice(page, "positions", "Positions", {name: name for name in POSITIONS}, told)
        told = "LayerNorm after (post) or before (pre) each part"
        choice(page, "norm", "Norm", {name: name for name in NORMS}, told)
        seed(page, width=124)
