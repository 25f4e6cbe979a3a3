"""Scale and softmax: temperature, variance, the cost of scores, and half precision."""

from typing import TYPE_CHECKING

import streamlit as st

from viz.pages import shared
from viz.pages.lessons import frame, tables
from viz.pages.lessons.scale import texts
from viz.pages.lessons.scale.story import STORY
from viz.pages.lessons.tables import number
from viz.pages.state import params as link
from viz.pages.state import session
from viz.pages.widgets import controls

if TYPE_CHECKING:
    from models.lessons.scaling import Spread

NAME = "scale"
MOST = 8  # scores
WIDTHS = (2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
PARAMS = (
    link.text("scores", "2 1 0.5 -1"),
    link.decimal("temperature", 1.0, 0.05, 10.0),
    link.one_of("width", 64, WIDTHS),
    link.number("seed", 0, 0, 999),
    link.number("tokens", 512, 2, 4096),
    link.number("hidden", 64, 1, 1024),
    link.decimal("size", 32.0, 0.5, 200.0),
)


def page() -> None:
    """Draws the lesson."""
    with frame.lesson(NAME, PARAMS):
        frame.story(NAME, STORY)
        with frame.details(NAME, PARAMS):
            _details()
        width = session.get(NAME, "width")
        frame.explore(
            f"The scores of a layer of width {width}, part by part",
            "architecture",
            preset="small",
            dim=max(width, 8),
            heads=1,
        )
        from models.attention import scores
        from models.attention.scores import softmax
        from models.lessons import scaling, widths

        parts = (
            scaling.softened,
            softmax,
            scaling.slopes,
            scaling.spread,
            scores.Dot,
            scores.Bilinear,
            scores.Additive,
            widths.three_widths,
        )
        frame.code(NAME, *parts, scaling.dot_costs, scaling.additive_costs, scaling.halves)
        frame.takeaways(*texts.TAKEAWAYS)


def _details() -> None:
    frame.text(*texts.TEXT)
    frame.formula(texts.FORMULA)
    frame.text(texts.WHERE)
    frame.heading("Temperature")
    try:
        _temperature()
    except ValueError as error:
        shared.error_line(error)
    frame.tries(NAME, PARAMS, *texts.TEMPERATURE_TRIES, part="temperature")
    _variance()
    _costs()
    _halves()


def parse_scores(text: str) -> list[float]:
    """Parses numbers separated by spaces or commas.

    Raises:
        ValueError: for too few or too many, or something that is not a number.
    """
    try:
        found = [float(part) for part in text.replace(",", " ").split()]
    except ValueError:
        raise ValueError(f"scores: expected numbers, received “{text[:40]}”") from None
    if not 2 <= len(found) <= MOST or any(not abs(score) <= 1000 for score in found):
        raise ValueError(f"scores: expected 2 to {MOST} numbers from −1000 to 1000")
    return found


def _temperature() -> None:
    with st.container(horizontal=True, gap="medium"):
        text = controls.text_input(NAME, "scores", "Scores", width=260)
        temperature = controls.decimal_slider(
            NAME, "temperature", "Temperature T", (0.05, 10.0), texts.TEMPERATURE_HELP, step=0.05
        )
    import torch

    from models.lessons import scaling

    scores = torch.tensor(parse_scores(text))
    weights = scaling.softened(scores, temperature)
    slopes = scaling.slopes(weights)
    names = [number(score, 2) for score in scores.tolist()]
    frame.show(
        tables.row(
            tables.bars(
                "[[weights|Weights]] w by score",
                list(zip(names, weights.tolist(), strict=True)),
                full=1.0,
            ),
            tables.bars(
                "Slope w (1 − w): how much each moves with its score / T",
                list(zip(names, slopes.tolist(), strict=True)),
                full=0.25,
            ),
        )
    )
    frame.text(texts.TEMPERATURE)


def _variance() -> None:
    frame.heading("Dot products grow with the width")
    with st.container(horizontal=True, gap="medium"):
        titles = {width: str(width) for width in WIDTHS}
        width = controls.choice(NAME, "width", "Width d", titles, texts.WIDTH_HELP)
        seed = controls.seed(NAME, "Seed of the random queries and keys")
    found = spreads(seed)
    here = next(each for each in found if each.width == width)
    frame.show(
        tables.facts(
            ("Variance of q·k", number(here.variance)),
            ("Variance of q·k / √d", number(here.scaled_variance)),
            ("Largest weight without √d", number(here.largest)),
            ("Largest weight with √d", number(here.scaled_largest)),
            ("Largest slope without √d", number(here.slope)),
            ("Largest slope with √d", number(here.scaled_slope)),
        )
    )
    from models.lessons.scaling import KEYS, QUERIES

    frame.shapes(
        ("queries", f"{QUERIES} × {here.width}"),
        ("keys of each", f"{KEYS} × {here.width}"),
        ("scores of each", f"1 × {KEYS}"),
    )
    left, right = st.columns(2)
    with left:
        _chart(found, "variance", "Variance of q·k", "variance", ("variance", "scaled_variance"))
    with right:
        _chart(found, "largest", "Largest of 8 weights", "weight", ("largest", "scaled_largest"))
    frame.text(texts.VARIANCE)
    frame.tries(NAME, PARAMS, *texts.WIDTH_TRIES, part="width")


@st.cache_resource(max_entries=16, show_spinner=False)
def spreads(seed: int) -> "tuple[Spread, ...]":
    """Statistics of random queries and keys of every width."""
    from models.lessons import scaling

    return tuple(scaling.spread(width, seed=seed) for width in WIDTHS)


def _chart(
    found: "tuple[Spread, ...]", key: str, title: str, y: str, fields: tuple[str, str]
) -> None:
    import numpy as np

    from viz import figures

    at = np.arange(len(found))
    lines = {
        name: np.array([getattr(each, field) for each in found])
        for name, field in zip(("without √d", "with √d"), fields, strict=True)
    }
    place = WIDTHS.index(session.get(NAME, "width"))
    drawn = figures.curves(
        at, lines, title=title, x="width d", y=y, mark=place, steps=True, height=320
    )
    drawn.update_xaxes(tickvals=at, ticktext=[str(width) for width in WIDTHS])
    if key == "variance":
        drawn.update_yaxes(type="log", dtick=1)
    else:
        drawn.update_yaxes(range=[0, 1.05])
    frame.figure(NAME, drawn, key, f"{title} against the width, with and without the scale")


def _costs() -> None:
    frame.heading("Why a dot product, and not a small network")
    frame.text(*texts.ADDITIVE)
    with st.container(horizontal=True, gap="medium"):
        help = "Number of tokens that attend to each other"
        tokens = controls.slider(NAME, "tokens", "Tokens", (2, 4096), help)
        help = "Hidden width of the additive score"
        hidden = controls.slider(NAME, "hidden", "Hidden width", (1, 1024), help)
    from models.lessons import scaling

    width = session.get(NAME, "width")
    dot, additive = scaling.dot_costs(tokens, width), scaling.additive_costs(tokens, width, hidden)
    rows = [
        [name, f"{each.products:,}", f"{each.numbers:,}"]
        for name, each in (("dot product", dot), ("additive", additive))
    ]
    cols = ["[[score]]", "multiplications", "numbers in memory"]
    title = f"{tokens:,} tokens of width {width}, {hidden} hidden"
    frame.show(tables.table(title, cols, rows))
    frame.tries(NAME, PARAMS, *texts.COST_TRIES, part="costs")


def _halves() -> None:
    frame.heading("Two fourth roots, and half precision")
    frame.text(*texts.HALVES)
    size = controls.decimal_slider(
        NAME, "size", "Every number of q and k", (0.5, 200.0), texts.SIZE_HELP, step=0.5
    )
    import torch

    from models.lessons import scaling

    width = session.get(NAME, "width")
    vector = torch.full((width,), size)
    found = scaling.halves(vector, vector)
    rows = [
        ["q·k in 16 bits", number(found.product, 1)],
        ["(q·k) / √d in 16 bits", number(found.late, 1)],
        ["(q / ∜d)·(k / ∜d) in 16 bits", number(found.early, 1)],
        ["exactly", number(found.exact, 1)],
    ]
    title = f"q and k of {width} numbers, all {number(size, 1)}"
    frame.show(tables.table(title, ["How", "Score"], rows, marked=2))
    frame.tries(NAME, PARAMS, *texts.HALF_TRIES, part="half")
