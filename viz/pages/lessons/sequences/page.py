"""Why attention: how influence fades with distance; cost and reach of three kinds of layer."""

import streamlit as st

from viz.pages.lessons import frame, tables
from viz.pages.lessons.sequences import texts
from viz.pages.lessons.sequences.story import STORY
from viz.pages.lessons.tables import counted, number
from viz.pages.state import params as link
from viz.pages.state import session
from viz.pages.widgets import controls

NAME = "sequences"
SHOWN = 17  # positions in the picture of receptive fields
ACTIVATIONS = {"tanh": "tanh", "none": "none"}
KERNELS = {"3": "3", "5": "5", "7": "7"}
LAYERS = {
    "attention": "attention",
    "recurrence": "recurrence, left to right",
    "convolution": "convolution",
}
FORMULAS = {"attention": "n² · d", "recurrence": "n · d²", "convolution": "k · n · d²"}
PARAMS = (
    link.number("tokens", 32, 2, 64),
    link.decimal("gain", 0.9, 0.5, 1.2),
    link.choice("activation", "tanh", ACTIVATIONS),
    link.number("length", 32, 2, 4096),
    link.number("width", 64, 1, 512),
    link.choice("kernel", "3", KERNELS),
    link.number("layers", 1, 1, 8),
    link.number("position", 8, 0, SHOWN - 1),
)


def page() -> None:
    """Draws the lesson."""
    with frame.lesson(NAME, PARAMS):
        frame.story(NAME, STORY)
        with frame.details(NAME, PARAMS):
            _details()
        from models.lessons import reach, sequences

        frame.code(
            NAME,
            sequences.recurrent_influence,
            sequences.attention_influence,
            reach.cost,
            reach.receptive_field,
        )
        frame.takeaways(*texts.TAKEAWAYS)


def _details() -> None:
    frame.text(*texts.TEXT)
    frame.heading("How far a token reaches")
    frame.formula(r"h_t = \tanh(g\,Q\,h_{t-1} + U x_t)")
    frame.text(texts.WHERE)
    _fading()
    frame.text(*texts.FADING)
    frame.heading("What one layer costs, and what it sees")
    frame.text(*texts.COST_TEXT)
    _costs()
    frame.tries(NAME, PARAMS, *texts.TRIES)


def _fading() -> None:
    """The influence of each token on the last position, by distance."""
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        tokens = controls.slider(NAME, "tokens", "Tokens", (2, 64), "Length of the text")
        help = "What the recurrence multiplies its state by at each step"
        gain = controls.decimal_slider(NAME, "gain", "Gain g", (0.5, 1.2), help, step=0.05)
        help = "Applied to the state at each step"
        activation = controls.choice(NAME, "activation", "Activation", ACTIVATIONS, help)
    import numpy as np

    from models.lessons import sequences
    from viz import figures

    lines = {
        "recurrence": sequences.recurrent_influence(tokens, gain=gain, activation=activation),
        "attention": sequences.attention_influence(tokens),
    }
    shown = {name: line.flip(0).numpy() for name, line in lines.items()}
    drawn = figures.curves(
        np.arange(tokens),
        shown,
        title="Influence of a token on the last position",
        x="distance in tokens",
        y="size of the gradient",
        steps=True,
        height=320,
    )
    drawn.update_yaxes(type="log", exponentformat="power")
    alt = "Influence by distance: a straight fall for the recurrence, level for attention"
    frame.figure(NAME, drawn, "influence", alt)
    frame.shapes(
        *(
            (f"{name}, first token : last token", f"{line[0] / line[-1]:.2e}")
            for name, line in lines.items()
        )
    )


def _costs() -> None:
    """Attention, recurrence and convolution: cost and receptive field."""
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        length = controls.slider(NAME, "length", "Tokens n", (2, 4096), "Length of the text")
        width = controls.slider(NAME, "width", "Width d", (1, 512), "Width of a token")
        kernel = int(controls.choice(NAME, "kernel", "Window k", KERNELS, "Of the convolution"))
        help = "Number of stacked layers in the picture"
        layers = controls.slider(NAME, "layers", "Layers", (1, 8), help)
        help = "The output whose receptive field is shown"
        controls.slider(NAME, "position", "Output at position", (0, SHOWN - 1), help)
    from models.lessons import reach

    found = {kind: reach.cost(kind, length, width, kernel) for kind in reach.KINDS}
    rows = [
        [kind, f"{FORMULAS[kind]} = {one.work:,}", f"{one.steps:,}", f"{one.path:,}"]
        for kind, one in found.items()
    ]
    cols = ("layer", "operations, up to a factor", "sequential steps", "longest path")
    frame.show(
        tables.table(f"One layer over {number(length, 0)} tokens of width {width}", cols, rows)
    )
    frame.show(_reached(layers, kernel))


def _reached(layers: int, kernel: int) -> str:
    from models.lessons import reach

    at = session.get(NAME, "position")
    reached = [
        reach.receptive_field(kind, SHOWN, at, layers=layers, kernel=kernel).float().tolist()
        for kind in reach.KINDS
    ]
    return tables.shares(
        [["●" if share else "" for share in row] for row in reached],
        reached,
        title=f"What the output at position {at} depends on, after {counted(layers, 'layer')}",
        rows=[
            f"{LAYERS[kind]}: {int(sum(row))}"
            for kind, row in zip(reach.KINDS, reached, strict=True)
        ],
        cols=[str(n) for n in range(SHOWN)],
        digits=0,
        line="● non-zero gradient with respect to that token, in a network with random weights",
    )
