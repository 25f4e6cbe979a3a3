"""The encoder block: residual connections, LayerNorm number by number, pre-norm and post-norm."""

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

import streamlit as st

from viz.pages.lessons import frame, inputs, markup, tables
from viz.pages.lessons.block import smallest, texts
from viz.pages.lessons.block.story import STORY
from viz.pages.lessons.tables import bracketed, number
from viz.pages.state import params as link
from viz.pages.state import session
from viz.pages.widgets import controls

if TYPE_CHECKING:
    from numpy import ndarray
    from plotly.graph_objects import Figure

    from models.blocks import FeedForward
    from models.lessons.block_steps import BlockStep
    from models.lessons.depth import Growth
    from models.lessons.norms import NormSteps

NAME = "block"
STEPS = ("s = x + f(x)", "mean", "s − μ", "variance", "÷ √(σ² + ε)", "γ, β")
FEATURES = ("0", "1", "2", "3")
X = ((2.0, 0.5, -1.0, 0.5),)
Y = ((0.5, -0.5, 1.0, 1.0),)
GAMMA, BETA = ((1.0, 1.0, 1.0, 1.0),), ((0.0, 0.0, 0.0, 0.0),)
OTHERS = ((1.0, 3.0, 0.0, -2.0), (-1.0, 0.5, 2.0, 0.5))
EPS = {"1e-5": "0.00001", "1e-6": "0.000001", "0.5": "0.5"}
ACTIVATIONS = {"relu": "ReLU", "gelu": "GELU", "tanh": "tanh", "silu": "SiLU"}
DEPTHS = (1, 2, 4, 8, 16)
HIDDEN = 6  # hidden width of the feed-forward network
# first and last line of each residual connection
RESIDUALS = {"post": ((0, 2), (3, 5)), "pre": ((0, 3), (3, 6))}
NORMS = {
    "post": "[[post-norm|Post-norm]]: the norm after the sum",
    "pre": "[[pre-norm|Pre-norm]]: the norm before the layer",
}
PARAMS = (
    *inputs.params("x", X),
    *inputs.params("y", Y),
    *inputs.params("gamma", GAMMA),
    *inputs.params("beta", BETA),
    *inputs.params("other", OTHERS),
    *smallest.PARAMS,
    link.choice("eps", "1e-5", EPS),
    frame.step(STEPS),
    link.number("depth", 8, 1, 16),
    link.choice("activation", "relu", ACTIVATIONS),
)


def page() -> None:
    """Draws the lesson."""
    with frame.lesson(NAME, PARAMS):
        frame.story(NAME, STORY)
        with frame.details(NAME, PARAMS):
            _details()
        _code()
        frame.takeaways(*texts.TAKEAWAYS)


def _details() -> None:
    frame.text(*texts.TEXT)
    frame.formula(
        r"\text{post-norm: } x \leftarrow \operatorname{norm}(x + f(x))",
        r"\text{pre-norm: } x \leftarrow x + f(\operatorname{norm}(x))",
        r"\operatorname{norm}(s) = \gamma\,\frac{s - \mu}{\sqrt{\sigma^2 + \varepsilon}}"
        r" + \beta",
        r"\mu = \tfrac1H \sum_i s_i \qquad \sigma^2 = \tfrac1H \sum_i (s_i - \mu)^2",
    )
    frame.text(*texts.SYMBOLS)
    frame.heading("The way through a block")
    frame.text(*texts.WAY_TEXT)
    x = inputs.grid(NAME, "x", ("x",), FEATURES)
    _paths([*x, *inputs.values(NAME, "other", len(OTHERS), len(FEATURES))])
    frame.heading("Add & Norm, followed number by number")
    frame.text(*texts.NORM_TEXT)
    y = inputs.grid(NAME, "y", ("f(x)",), FEATURES)
    with st.expander("Change γ, β and ε, which are 1, 0 and tiny before anything is learned"):
        gamma = inputs.grid(NAME, "gamma", ("γ",), FEATURES)
        beta = inputs.grid(NAME, "beta", ("β",), FEATURES)
        eps = controls.choice(NAME, "eps", "ε", EPS, "Avoids a division by zero")
    at = frame.stepper(NAME, STEPS)
    total, found = _followed(x[0], y[0], gamma[0], beta[0], float(EPS[eps]))
    _picture(x[0], y[0], total, found, (gamma[0], beta[0]), at)
    frame.heading("Compared with BatchNorm")
    frame.text(*texts.BATCH_TEXT)
    _beside(total)
    _depths()
    _feed_forward(found.out.tolist())
    frame.tries(NAME, PARAMS, *texts.TRIES)
    frame.heading("The smallest transformer")
    smallest.draw(NAME)
    frame.explore("The smallest transformer, part by part", "architecture", preset="smallest")
    frame.explore(
        "The block of a small encoder, part by part, in the Architecture page",
        "architecture",
        preset="small",
        norm="pre",
    )


def _paths(words: Sequence[Sequence[float]]) -> None:
    """The path of the first word through a block of either kind."""
    import torch

    from models.lessons.block_steps import block_steps, random_block

    x = torch.tensor([list(map(list, words))])
    shown = [
        _path(norm, block_steps(random_block(norm, x.shape[-1], HIDDEN), x)) for norm in RESIDUALS
    ]
    frame.show(tables.row(*shown))
    count, width = x.shape[1:]
    frame.shapes(
        ("x, and every line", f"{count} words × {width} features"),
        ("shown", "1 word"),
    )


def _path(norm: str, steps: "Sequence[BlockStep]") -> str:
    """One block as a table: brackets, the name of each line, and its numbers."""
    lines = "".join(_line(n, step, RESIDUALS[norm]) for n, step in enumerate(steps))
    return (
        f'<figure class="lesson-matrix lesson-way"><figcaption>{markup.html(NORMS[norm])}'
        f"</figcaption><table>{lines}</table></figure>"
    )


def _line(place: int, step: "BlockStep", brackets: Sequence[tuple[int, int]]) -> str:
    cells = "".join(_bracket(place, *ends) for ends in brackets)
    kind = {"+": "sum", "norm": "norm", "x": "x"}.get(step.name, "layer")
    title = {"+": "+ x", "x": "x"}.get(step.name, step.name)
    if step.name == "+" and place > 3:
        title = "+ the input"
    numbers = "".join(f"<td>{number(v, 3)}</td>" for v in step.out[0, 0].tolist())
    return f'<tr>{cells}<th scope="row"><b class="{kind}">{escape(title)}</b></th>{numbers}</tr>'


def _bracket(place: int, first: int, last: int) -> str:
    if place == first:
        return f'<td class="round" rowspan="{last - first + 1}" aria-hidden="true"></td>'
    return "" if first < place <= last else '<td class="none"></td>'


def _followed(
    x: list[float], y: list[float], gamma: list[float], beta: list[float], eps: float
) -> tuple[list[float], "NormSteps"]:
    """x + f(x), and every step of its normalisation."""
    import torch

    from models.blocks import LayerNorm
    from models.lessons.norms import norm_steps

    layer = LayerNorm(len(x), eps=eps)
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
        tables.lines(*_sums(total, found, learned)[: at + 1]),
    )


def _sums(
    total: list[float], found: "NormSteps", learned: tuple[list[float], list[float]]
) -> list[str]:
    squares = " + ".join(map(number, found.squares.tolist()))
    first, (gamma, beta) = found.standardised[0].item(), learned
    eps = EPS[session.get(NAME, "eps")]
    return [
        f"**s = x + f(x)** = ({', '.join(map(number, total))})",
        f"**μ** = ({tables.total(total)}) / {len(total)} = **{number(found.mean.item())}**",
        f"**s − μ** feature 0: {number(total[0])} − {bracketed(number(found.mean.item()))} ="
        f" **{number(found.centred[0].item())}**",
        f"**σ²** = ({squares}) / {len(total)} = **{number(found.variance.item())}**",
        f"**√(σ² + ε)** = √({number(found.variance.item())} + {eps}) ="
        f" **{number(found.deviation.item())}**; feature 0: {number(found.centred[0].item())} /"
        f" {number(found.deviation.item())} = **{number(first)}**",
        f"**γ · … + β** feature 0: {number(gamma[0])} · {bracketed(number(first))} +"
        f" {bracketed(number(beta[0]))} ="
        f" **{number(found.out[0].item())}**",
    ]


def _beside(total: list[float]) -> None:
    import torch

    from models.lessons.norms import batch_normed, layer_normed

    others = inputs.grid(NAME, "other", ("word 1", "word 2"), FEATURES)
    words = ("word 0 (yours)", "word 1", "word 2")
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


def _depths() -> None:
    """Pre- and post-norm, deeper and deeper."""
    frame.heading("Norm before or after")
    frame.text(*texts.DEPTH_TEXT)
    depth = controls.slider(NAME, "depth", "Blocks", (1, 16), "Number of stacked blocks")
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
        title="Gradient of the last block, by number of blocks",
        x="blocks",
        y="gradient norm",
    )
    left, right = st.columns(2)
    with left:
        frame.figure(NAME, sizes, "sizes", "Size of the states after each block")
    with right:
        frame.figure(NAME, gradients, "gradients", "Gradient of the last block by depth")
    _last_block(both, depth)


def _by_block(
    at: "ndarray", lines: "dict[str, ndarray]", *, title: str, x: str, y: str
) -> "Figure":
    from viz import figures

    return figures.curves(at, lines, title=title, x=x, y=y, steps=True, height=300)


def _last_block(both: "dict[str, Growth]", depth: int) -> None:
    """The numbers of pre-norm and post-norm at the end of the stack."""
    frame.shapes(
        *(
            (f"{name}, after block {depth}", number(found.sizes[-1].item()))
            for name, found in both.items()
        ),
        *((f"{norm}-norm, last gradient", number(_last(norm, depth))) for norm in ("pre", "post")),
    )


@st.cache_resource(max_entries=64, show_spinner=False)
def _growth(norm: str, depth: int) -> "Growth":
    from models.lessons.depth import growth

    return growth(norm, depth)


@st.cache_resource(max_entries=64, show_spinner=False)
def _last(norm: str, depth: int) -> float:
    from models.lessons.depth import last_gradient

    return last_gradient(norm, depth)


def _feed_forward(vector: list[float]) -> None:
    """The two linear layers applied to the normalised vector, alone and with other words."""
    import torch

    from models.blocks import FeedForward
    from models.seeding import seeded

    frame.heading("The feed-forward network")
    frame.text(*(text.format(hidden=HIDDEN) for text in texts.FEED_TEXT))
    frame.formula(r"f(x) = W_2\,\operatorname{act}(W_1 x + b_1) + b_2")
    help = "Between the two linear layers"
    activation = controls.choice(NAME, "activation", "Activation", ACTIVATIONS, help)
    with seeded(0):
        layer = FeedForward(len(vector), HIDDEN, activation=activation).eval()
        company = torch.randn(2, len(vector))
    x = torch.tensor([vector])
    with torch.no_grad():
        up = layer.up(x)
        activated, out = layer.activation(up), layer(x[None])[0]
        beside = layer(torch.cat([x, company])[None])[0, :1]
    _matrices(layer)
    shown = {
        "x": x,
        "Up: W_{1} x + b_{1}": up,
        "a = act(up)": activated,
        "Down: W_{2} a + b_{2}": out,
    }
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
                "alone or with two other words: largest difference (rounding)",
                f"{(out - beside).abs().max().item():.1e}",
            ),
        ),
    )


def _matrices(layer: "FeedForward") -> None:
    """The matrices of the feed-forward network."""
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
    """The first number of `up`, written out as a sum."""
    row, bias = layer.up.weight[0].tolist(), layer.up.bias[0].item()
    return (
        f"**Up**, feature 0: {tables.dot(row, vector, 3)} + {bracketed(number(bias, 3))} ="
        f" **{number(found, 3)}**"
    )


def _code() -> None:
    from models import blocks as layernorm
    from models import simple
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
        simple.unscaled,
        simple.Smallest,
    )
