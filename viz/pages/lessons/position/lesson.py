"""Position: the sinusoidal table, another order of words, a slip in a formula, learned places."""

from typing import TYPE_CHECKING

import streamlit as st

from viz.pages import shared
from viz.pages.lessons import frame, tables
from viz.pages.lessons.position import learned as position_learned
from viz.pages.lessons.position import texts as position_texts
from viz.pages.lessons.prose import plain
from viz.pages.lessons.tables import number
from viz.pages.state import params as link
from viz.pages.widgets import controls

if TYPE_CHECKING:
    from torch import Tensor

NAME = "position"
ORDERS = {"reverse": "backwards", "swap": "first and last swapped", "turn": "first word last"}
SLIPS = {"right": "2j/d (right)", "kind": "(2j+1)/d", "literal": "2j + 1/d"}
WORDS, LETTERS = 12, 30  # most words, and letters of one
LINES = 8  # rows and columns of the printed corner
PARAMS = (
    link.number("length", 60, 4, 120),
    link.number("dim", 32, 4, 64, 2),
    link.number("at", 1, 0, 119),
    link.number("pair", 0, 0, 31),
    link.text("words", "dog bites man"),
    link.choice("order", "swap", ORDERS),
    link.choice("slip", "kind", SLIPS),
    link.number("token", 20, 0, 62),
)


def draw() -> None:
    """The lesson, top to bottom."""
    frame.text(*position_texts.TEXT)
    frame.formula(
        r"P_{i,2j} = \sin\frac{i}{10000^{2j/d}}",
        r"P_{i,2j+1} = \cos\frac{i}{10000^{2j/d}}",
    )
    frame.text(position_texts.WHERE)
    _table()
    frame.tries(NAME, *position_texts.TABLE_TRIES, part="table")
    frame.heading("Words in another order")
    frame.text(*position_texts.ORDER_TEXT)
    try:
        _order()
    except ValueError as error:
        shared.error_line(error)
    frame.tries(NAME, *position_texts.ORDER_TRIES, part="order")
    frame.heading("A slip in the formula")
    frame.text(*position_texts.SLIP_TEXT)
    _slip()
    frame.tries(NAME, *position_texts.SLIP_TRIES, part="slip")
    frame.heading("Learned or fixed")
    frame.text(*position_texts.LEARNED_TEXT)
    position_learned.draw()
    _code()
    frame.took(*position_texts.TAKEN)


def _said(name: str) -> int:
    return st.session_state[f"{NAME}_{name}"]


def _table() -> None:
    with st.container(horizontal=True, gap="medium"):
        controls.slider(NAME, "length", "Places", (4, 120), "How many rows the table has")
        told = "How many numbers each place has"
        controls.slider(NAME, "dim", "Width d", (4, 64), told, step=2)
        told = "Whose row is marked and worked out; at most the last place there is"
        controls.slider(NAME, "at", "Follow place i", (0, 119), told)
        told = "Features 2j and 2j + 1 are worked out; at most the last pair there is"
        controls.slider(NAME, "pair", "Follow pair j", (0, 31), told)
    from models.positional import sinusoidal
    from viz import figures

    length, dim = _said("length"), _said("dim")
    at, pair = min(_said("at"), length - 1), min(_said("pair"), dim // 2 - 1)
    table = sinusoidal(length, dim)
    drawn = figures.heatmap(
        table.numpy(),
        title=f"Sinusoidal: {length} places × {dim} features",
        x="feature",
        y="place",
        bar="value",
        low=-1,
        high=1,
        mark=(at, 2 * pair),
    )
    frame.figure(NAME, drawn, "table", "Heat map of the numbers that are added at every place")
    _followed(table, at, pair)
    if (at, pair) != (_said("at"), _said("pair")):
        st.caption(f"The table ends at place {length - 1} and pair {dim // 2 - 1}.")
    rows, cols = _ends(length), _ends(dim)
    frame.show(
        tables.matrix(
            table[rows][:, cols].tolist(),
            title="The corners of the table: first and last places and features",
            rows=[f"place {n}" for n in rows],
            cols=[str(n) for n in cols],
            axes=("place", "feature"),
            kind="signed",
            digits=5,
        )
    )


def _ends(count: int) -> list[int]:
    """The first and the last places of a row; all if there are few."""
    half = LINES // 2
    few = range(count) if count <= LINES else [*range(half), *range(count - half, count)]
    return list(few)


def _followed(table: "Tensor", at: int, pair: int) -> None:
    from models.positional import sinusoidal

    dim = table.shape[1]
    rate = 10_000 ** (-2 * pair / dim)
    sine, cosine = sinusoidal(at + 1, dim)[at, 2 * pair : 2 * pair + 2].tolist()
    said = f"**{at} / 10000**^{{**{2 * pair}/{dim}**}}"
    frame.show(
        tables.lines(
            f"{said} = {number(at * rate)}: feature {2 * pair} is its sine,"
            f" **{number(sine, 5)}**, feature {2 * pair + 1} its cosine, **{number(cosine, 5)}**",
        )
    )


def _permutation(count: int) -> list[int]:
    order = _said("order")
    places = list(range(count))
    if order == "reverse":
        return places[::-1]
    if order == "turn":
        return [*places[1:], 0]
    return [places[-1], *places[1:-1], 0] if count > 1 else places


def _order() -> None:
    from models.lessons.order import permuted

    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        st.text_input("Words", key=f"{NAME}_words", persist_state="session", live=True)
        controls.choice(NAME, "order", "The other order", ORDERS, "How the words are moved")
    words = str(_said("words")).split()
    if not 1 <= len(words) <= WORDS:
        raise ValueError(f"words: expected 1 to {WORDS}, received {len(words)}")
    if max(map(len, words)) > LETTERS:
        raise ValueError(f"words: expected words of at most {LETTERS} letters")
    order = _permutation(len(words))
    told = []
    for positions in (False, True):
        found = permuted(words, order, positions=positions)
        kind = "with" if positions else "without"
        shown = [[*row[:3], moved] for row, moved in _rows(found.after, found.moved)]
        told.append(
            tables.matrix(
                shown,
                title=f"**{kind.capitalize()}** positions",
                rows=words,
                cols=("feature 0", "feature 1", "feature 2", "moved by"),
                axes=("word", "number"),
                kind="signed",
                note=f"Largest move {kind} positions: {found.moved.max().item():.1e}",
            )
        )
    frame.show(
        tables.facts(
            ("first order", plain(" ".join(words))),
            ("then", plain(" ".join(words[n] for n in order))),
        ),
        tables.row(*told),
    )


def _rows(after: "Tensor", moved: "Tensor") -> list[tuple[list[float], float]]:
    return list(zip(after.tolist(), moved.tolist(), strict=True))


def _slip() -> None:
    from analysis.similarity import by_distance
    from models.attention.relative import distances
    from models.lessons import order
    from models.lessons.order import circle, misread
    from viz import figures

    controls.choice(NAME, "slip", "The cosine's exponent", SLIPS, "As in the code, or as printed")
    length, dim, chosen = _said("length"), _said("dim"), list(SLIPS).index(str(_said("slip")))
    pair = min(_said("pair"), dim // 2 - 1)
    table = misread(length, dim, order.SLIPS[chosen])
    apart = distances(length, length).abs().float()
    found = by_distance(table @ table.T, apart)
    drawn = figures.curves(
        found.distance.numpy(),
        {"mean": found.mean.numpy()},
        title="Dot product of two places, by distance",
        x="distance",
        y="dot product",
        band=(found.low.numpy(), found.high.numpy()),
        height=300,
    )
    round_ = circle(table)[:, pair]
    frame.figure(NAME, drawn, "slip", "Mean, smallest and largest dot product at every distance")
    frame.shapes(
        ("exponent", list(SLIPS.values())[chosen]),
        ("P_{1,1}: place 1, feature 1", number(table[1, 1].item(), 5)),
        (
            f"sin² + cos² of pair {pair}",
            f"{number(round_.min().item())} to {number(round_.max().item())}",
        ),
        ("widest spread at one distance", number((found.high - found.low).max().item())),
    )


def _code() -> None:
    from models.lessons import order
    from models.positional import Learned, Sinusoidal, sinusoidal

    frame.code(NAME, sinusoidal, Sinusoidal, Learned, order.permuted, order.misread)
