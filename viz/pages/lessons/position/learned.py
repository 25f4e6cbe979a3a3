"""Learned positions beside fixed ones: a part of the lesson on positions."""

import streamlit as st

from viz.pages import shared
from viz.pages.lessons import frame
from viz.pages.lessons.position.texts import LEARNED_NOTE
from viz.pages.lessons.tables import number
from viz.pages.widgets import controls

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
    for column, (name, values) in zip(st.columns(2), shown.items(), strict=True):
        drawn = figures.heatmap(
            values, title=name, x="place", y="place", bar="cosine", low=-1, high=1, height=380
        )
        with column:
            told = f"Cosine of every two of the first 64 places: {name}"
            frame.figure(NAME, drawn, name.split()[0], told)
    frame.text(LEARNED_NOTE)
    controls.slider(NAME, "token", "Place to compare", (0, 62), "With the place after it")
    at = _said("token")
    frame.shapes(
        ("[[parameters]], learned", f"{count} × {dim} = {learned.numel():,}"),
        ("parameters, fixed", "0"),
        *(
            (f"{name}: cosine of places {at} and {at + 1}", number(float(values[at, at + 1])))
            for name, values in shown.items()
        ),
        ("longest input, learned", str(count)),
        ("longest input, fixed", "any"),
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
