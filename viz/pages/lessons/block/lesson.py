"""The encoder block: the way round, LayerNorm number by number, and where the norm stands."""

from typing import TYPE_CHECKING

import streamlit as st

from viz.pages.lessons import frame, inputs, tables
from viz.pages.lessons.block import parts as block_parts
from viz.pages.lessons.block import texts as block_texts
from viz.pages.lessons.block import way as block_way
from viz.pages.lessons.tables import number
from viz.pages.state import params as link
from viz.pages.widgets import controls

if TYPE_CHECKING:
    from models.lessons.norms import NormSteps

NAME = "block"
STEPS = ("s = x + f(x)", "mean", "s − μ", "variance", "÷ √(σ² + ε)", "γ, β")
FEATURES = ("1", "2", "3", "4")
X = ((2.0, 0.5, -1.0, 0.5),)
Y = ((0.5, -0.5, 1.0, 1.0),)
GAMMA, BETA = ((1.0, 1.0, 1.0, 1.0),), ((0.0, 0.0, 0.0, 0.0),)
OTHERS = ((1.0, 3.0, 0.0, -2.0), (-1.0, 0.5, 2.0, 0.5))
EPS = {"1e-5": "0.00001", "1e-6": "0.000001", "0.5": "0.5"}
PARAMS = (
    *inputs.params("x", X),
    *inputs.params("y", Y),
    *inputs.params("gamma", GAMMA),
    *inputs.params("beta", BETA),
    *inputs.params("other", OTHERS),
    link.choice("eps", "1e-5", EPS),
    frame.step(STEPS),
    link.number("depth", 8, 1, 16),
    link.choice("activation", "relu", block_parts.ACTIVATIONS),
)


def draw() -> None:
    """The lesson, top to bottom."""
    frame.text(*block_texts.TEXT)
    frame.formula(
        r"\text{post-norm: } x \leftarrow \operatorname{norm}(x + f(x))",
        r"\text{pre-norm: } x \leftarrow x + f(\operatorname{norm}(x))",
        r"\operatorname{norm}(s) = \gamma\,\frac{s - \mu}{\sqrt{\sigma^2 + \varepsilon}} + \beta",
        r"\mu = \tfrac1H \sum_i s_i \qquad \sigma^2 = \tfrac1H \sum_i (s_i - \mu)^2",
    )
    frame.text(*block_texts.SYMBOLS)
    frame.heading("The way through a block")
    frame.text(*block_texts.WAY_TEXT)
    x = inputs.grid(NAME, "x", ("x",), FEATURES)
    block_way.draw([*x, *inputs.values(NAME, "other", len(OTHERS), len(FEATURES))])
    frame.heading("Add & Norm, followed number by number")
    frame.text(*block_texts.NORM_TEXT)
    y = inputs.grid(NAME, "y", ("f(x)",), FEATURES)
    with st.expander("Change γ, β and ε, which are 1, 0 and tiny before anything is learned"):
        gamma = inputs.grid(NAME, "gamma", ("γ",), FEATURES)
        beta = inputs.grid(NAME, "beta", ("β",), FEATURES)
        controls.choice(NAME, "eps", "ε", EPS, "Keeps the division possible")
    at = frame.stepper(NAME, STEPS)
    total, found = _followed(x[0], y[0], gamma[0], beta[0])
    _picture(x[0], y[0], total, found, (gamma[0], beta[0]), at)
    frame.heading("Beside BatchNorm")
    frame.text(*block_texts.BATCH_TEXT)
    _beside(total)
    block_parts.norms()
    block_parts.feed_forward(found.out.tolist())
    frame.tries(NAME, *block_texts.TRIES)
    frame.explore(
        "The block of a small encoder, part by part, in the Architecture page",
        "lab/architecture",
        preset="small",
        norm="pre",
    )
    _code()
    frame.took(*block_texts.TAKEN)


def _followed(
    x: list[float], y: list[float], gamma: list[float], beta: list[float]
) -> tuple[list[float], "NormSteps"]:
    """x + f(x), and every number of its norm."""
    import torch

    from models.blocks import LayerNorm
    from models.lessons.norms import norm_steps

    layer = LayerNorm(len(x), eps=float(EPS[st.session_state[f"{NAME}_eps"]]))
    with torch.no_grad():
        layer.weight.copy_(torch.tensor(gamma))
        layer.bias.copy_(torch.tensor(beta))
        total = torch.tensor(x) + torch.tensor(y)
        return total.tolist(), norm_steps(layer, total)


def _picture(
    x: list[float],
    y: list[float],
    total: list[float],
    found: "NormSteps",
    learned: tuple[list[float], list[float]],
    at: int,
) -> None:
    rows = [x, y, total, found.centred.tolist(), found.squares.tolist()]
    rows += [found.standardised.tolist(), *learned, found.out.tolist()]
    names = ["x", "f(x)", "s = x + f(x)", "s − μ", "(s − μ)²", "÷ √(σ² + ε)", "γ", "β", "out"]
    upto = (3, 3, 4, 5, 6, 9)[at]
    frame.show(
        tables.matrix(
            rows[:upto],
            title="From the sum to the normed vector",
            rows=names[:upto],
            cols=[f"feature {name}" for name in FEATURES],
            axes=("line", "feature"),
            kind="signed",
        ),
        tables.lines(*_written(total, found, learned)[: at + 1]),
    )


def _written(
    total: list[float], found: "NormSteps", learned: tuple[list[float], list[float]]
) -> list[str]:
    said = " + ".join(map(number, total))
    squares = " + ".join(map(number, found.squares.tolist()))
    first, (gamma, beta) = found.standardised[0].item(), learned
    eps = EPS[st.session_state[f"{NAME}_eps"]]
    return [
        f"**s = x + f(x)** = ({', '.join(map(number, total))})",
        f"**μ** = ({said}) / {len(total)} = **{number(found.mean.item())}**",
        f"**s − μ** feature 1: {number(total[0])} − {number(found.mean.item())} ="
        f" **{number(found.centred[0].item())}**",
        f"**σ²** = ({squares}) / {len(total)} = **{number(found.variance.item())}**",
        f"**√(σ² + ε)** = √({number(found.variance.item())} + {eps}) ="
        f" **{number(found.deviation.item())}**; feature 1: {number(found.centred[0].item())} /"
        f" {number(found.deviation.item())} = **{number(first)}**",
        f"**γ · … + β** feature 1: {number(gamma[0])} · {number(first)} + {number(beta[0])} ="
        f" **{number(found.out[0].item())}**",
    ]


def _beside(total: list[float]) -> None:
    import torch

    from models.lessons.norms import batch_normed, layer_normed

    others = inputs.grid(NAME, "other", ("word 2", "word 3"), FEATURES)
    words = ("your word", "word 2", "word 3")
    x = torch.tensor([total, *others])
    shown = {
        "s = x + f(x)": x,
        "LayerNorm (γ = 1, β = 0), a row at a time": layer_normed(x),
        "BatchNorm (γ = 1, β = 0), a column at a time": batch_normed(x),
    }
    frame.show(
        tables.row(
            *(
                tables.matrix(
                    values.tolist(),
                    title=title,
                    rows=words,
                    axes=("word", "feature"),
                    kind="signed",
                    mark=(0, None),
                )
                for title, values in shown.items()
            )
        )
    )


def _code() -> None:
    from models import blocks as layernorm
    from models.blocks import AddNorm, FeedForward, PostNormBlock, PreNormBlock
    from models.lessons import block_steps, depth, norms

    frame.code(
        NAME,
        AddNorm,
        layernorm.LayerNorm,
        layernorm.standardised,
        norms.batch_normed,
        FeedForward.forward,
        PostNormBlock.forward,
        PreNormBlock.forward,
        block_steps.block_steps,
        depth.growth,
    )
