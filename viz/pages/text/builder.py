"""Model selection of the Text page: a trained model, or an encoder built with live controls."""

from collections.abc import Callable

import streamlit as st

from models.catalogue import bundled
from viz.pages.shared import BUILT, Choice
from viz.pages.state import params as link
from viz.pages.state import session
from viz.pages.widgets.controls import button, choice, seed, select, slider

TITLES = {entry.name: entry.title for entry in bundled() if entry.reads == "text"} | {
    BUILT: "Build one (untrained)"
}
DIMS = range(8, 257, 8)
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
SLIDER = 136  # pixels: all controls fit in one row on a small laptop


def model(page: str, on_change: Callable[[], None]) -> str:
    """The choice of a model."""
    return select(
        page,
        "model",
        "Model",
        TITLES,
        "MiniLM is a real pretrained transformer; most others are small models trained for this app"
        " on tasks that need attention. Or build an encoder here and change its sizes: its weights"
        " are random, so the pictures show architecture, not learning.",
        width=210,
        on_change=on_change,
        collapsed=True,
    )


def chosen(page: str) -> Choice:
    """The selected model, with the sizes of one built here."""
    settings = session.current(page).settings
    return Choice(settings["model"], **{name: settings[name] for name in FIELDS})


def controls(page: str) -> None:
    """The sizes of a model built here."""
    if session.get(page, "model") != BUILT:
        return
    dim = session.get(page, "dim")
    with st.container(key=f"{page}_controls", horizontal=True, gap="small"):
        slider(
            page,
            "heads",
            "Heads",
            (1, 16),
            "Number of attention heads per layer; must divide the width",
            width=SLIDER,
            allowed=[heads for heads in range(1, 17) if dim % heads == 0],
        )
        heads = session.get(page, "heads")
        slider(
            page,
            "dim",
            "Dim",
            (8, 256),
            "Width of the model; each head gets dim / heads",
            step=8,
            width=SLIDER,
            allowed=[width for width in DIMS if width % heads == 0],
        )
        help = "Number of blocks, with one attention layer each"
        slider(page, "depth", "Depth", (1, 12), help, width=SLIDER)
        help = "How positions are encoded; none: tokens have no order"
        select(page, "positions", "Positions", {name: name for name in POSITIONS}, help, width=150)
        help = "LayerNorm after (post) or before (pre) each sub-layer"
        choice(page, "norm", "Norm", {name: name for name in NORMS}, help)
        seed(page, width=124)
    _fixes(page)


def _fixes(page: str) -> None:
    """Buttons for valid sizes: heads that divide the width, or a width they divide."""
    heads, dim = session.get(page, "heads"), session.get(page, "dim")
    if dim % heads == 0:
        return
    near = min((n for n in range(1, 17) if dim % n == 0), key=lambda n: abs(n - heads))
    with st.container(key=f"{page}_fixes", horizontal=True, gap="xsmall"):
        button(f"{near} heads", f"{page}_fix_heads", session.assign, page, {"heads": near})
        widths = [width for width in DIMS if width % heads == 0]
        if widths:
            wide = min(widths, key=lambda width: abs(width - dim))
            button(f"Dim {wide}", f"{page}_fix_dim", session.assign, page, {"dim": wide})
