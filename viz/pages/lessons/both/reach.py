"""Attention beside recurrence and convolution: what each sees, and what it costs."""

import streamlit as st

from viz.pages.lessons import cells, frame
from viz.pages.lessons.tables import counted
from viz.pages.state import params as link
from viz.pages.widgets import controls

NAME = "both"
KERNELS = {"3": "3", "5": "5", "7": "7"}
SHOWN = 17  # tokens of the picture
PARAMS = (
    link.number("length", 64, 2, 512),
    link.number("width", 64, 1, 512),
    link.choice("kernel", "3", KERNELS),
    link.number("layers", 2, 1, 8),
    link.number("place", 8, 0, SHOWN - 1),
)
TITLES = {
    "attention": "attention",
    "recurrence": "recurrence, left to right",
    "convolution": "convolution",
}


def draw() -> None:
    """The table of costs, and which tokens one output depends on."""
    from models.lessons.reach import KINDS, cost, seen

    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        controls.slider(NAME, "length", "Tokens n", (2, 512), "How long the text is")
        controls.slider(NAME, "width", "Width d", (1, 512), "How wide a token is")
        controls.choice(NAME, "kernel", "Window k", KERNELS, "Of the convolution")
        controls.slider(NAME, "layers", "Layers", (1, 8), "On top of each other, in the picture")
        controls.slider(NAME, "place", "Output at", (0, SHOWN - 1), "Whose view is shown")
    said = {p.name: st.session_state[f"{NAME}_{p.name}"] for p in PARAMS}
    length, width, kernel = said["length"], said["width"], int(said["kernel"])
    formulas = {"attention": "n² · d", "recurrence": "n · d²", "convolution": "k · n · d²"}
    found = {kind: cost(kind, length, width, kernel) for kind in KINDS}
    rows = [
        [kind, f"{formulas[kind]} = {one.work:,}", f"{one.steps:,}", f"{one.path:,}"]
        for kind, one in found.items()
    ]
    titles = ("layer", "multiplications", "steps in a row", "steps from end to end")
    reached = [
        seen(kind, SHOWN, said["place"], layers=said["layers"], kernel=kernel).float().tolist()
        for kind in KINDS
    ]
    frame.show(
        cells.table(titles, rows, title=f"One layer over {length} tokens of width {width}"),
        cells.cells(
            [["●" if share else "" for share in row] for row in reached],
            reached,
            title=f"What the output at {said['place']} depends on, after"
            f" {counted(said['layers'], 'layer')}",
            rows=[f"{TITLES[k]}: {int(sum(row))}" for k, row in zip(KINDS, reached, strict=True)],
            cols=[str(n) for n in range(SHOWN)],
            digits=0,
            told="● where the gradient by that token is not 0, in a network with random weights",
        ),
    )
