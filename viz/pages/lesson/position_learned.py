"""Learned positions beside fixed ones: a part of the lesson on positions."""

import streamlit as st

from viz.pages import controls, shared
from viz.pages.lesson import frame
from viz.pages.lesson.tables import number

NAME = "position"
SIZES = {"length": 8, "dim": 4}  # steps of the Positions page


def draw() -> None:
    """How alike places are in MiniLM's table and in the sinusoidal one."""
    from analysis.similarity import cosine
    from models.positional import sinusoidal
    from viz import figures

    model = shared.opened(shared.Choice("minilm"), shared.device())
    learned = model.network.get_parameter("positions.table").detach().cpu()
    count, dim = learned.shape
    shown = {
        "MiniLM, learned": cosine(learned[:64]).numpy(),
        "sinusoidal, fixed": cosine(sinusoidal(64, dim)).numpy(),
    }
    drawn = figures.facets(
        shown,
        title="How alike the first 64 places are (cosine)",
        x="place",
        y="place",
        bar="cosine",
        low=-1,
        high=1,
        across=2,
    )
    frame.figure(NAME, drawn, "learned", "Cosine of every two places: learned and fixed")
    controls.slider(NAME, "token", "Place to compare", (0, 63), "With the place after it")
    at = min(_said("token"), 62)
    frame.shapes(
        ("learned [[parameters]]", f"{count} × {dim} = {learned.numel():,}"),
        ("fixed", "0"),
        *(
            (f"{name}: cosine of places {at} and {at + 1}", number(float(values[at, at + 1])))
            for name, values in shown.items()
        ),
        ("longest input", f"{count} learned, any length fixed"),
    )
    _explore()


def _explore() -> None:
    """To the Positions page, whose table has its sizes in steps."""
    length, width = (max(8, step * -(-_said(name) // step)) for name, step in SIZES.items())
    frame.explore(
        "This table, and all other schemes, in the Positions page",
        "explore/positions",
        length=length,
        width=width,
        position=min(_said("at"), length - 1),
        dim=min(2 * _said("pair"), width - 2),
    )


def _said(name: str) -> int:
    return st.session_state[f"{NAME}_{name}"]
