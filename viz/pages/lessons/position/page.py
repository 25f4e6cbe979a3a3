"""Position: the sinusoidal table, permuted words, a misprinted formula, learned positions."""

from typing import TYPE_CHECKING

import streamlit as st

from viz.pages import shared
from viz.pages.lessons import frame, tables
from viz.pages.lessons.markup import plain
from viz.pages.lessons.position import texts
from viz.pages.lessons.position.story import STORY
from viz.pages.lessons.tables import number
from viz.pages.state import params as link
from viz.pages.state import session
from viz.pages.widgets import controls, entry

if TYPE_CHECKING:
    from torch import Tensor

NAME = "position"
ORDERS = {"reverse": "backwards", "swap": "first and last swapped", "turn": "first word last"}
SLIPS = {"right": "2j/d (right)", "kind": "(2j+1)/d", "literal": "2j + 1/d"}
WORDS, LETTERS = 12, 30  # maximum words, and letters per word
LINES = 8  # rows and columns of the corners shown as numbers
SIZES = {"length": 8, "dim": 4}  # steps of the Positions page
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
        r"P_{i,2j} = \sin\frac{i}{10000^{2j/d}}",
        r"P_{i,2j+1} = \cos\frac{i}{10000^{2j/d}}",
    )
    frame.text(texts.WHERE)
    _table()
    frame.tries(NAME, PARAMS, *texts.TABLE_TRIES, part="table")
    frame.heading("Words in another order")
    frame.text(*texts.ORDER_TEXT)
    try:
        _order()
    except ValueError as error:
        shared.error_line(error)
    frame.tries(NAME, PARAMS, *texts.ORDER_TRIES, part="order")
    frame.heading("A misprint of the formula")
    frame.text(*texts.SLIP_TEXT)
    _slip()
    frame.tries(NAME, PARAMS, *texts.SLIP_TRIES, part="slip")
    frame.heading("Learned or fixed")
    frame.text(*texts.LEARNED_TEXT)
    _learned()


def _table() -> None:
    with st.container(horizontal=True, gap="medium"):
        help = "Number of rows of the table"
        length = controls.slider(NAME, "length", "Positions", (4, 120), help)
        help = "Number of features per position"
        dim = controls.slider(NAME, "dim", "Width d", (4, 64), help, step=2)
        help = "The position whose row is marked and written out, at most the last one"
        position = controls.slider(NAME, "at", "Follow position i", (0, 119), help)
        help = "The pair (features 2j and 2j + 1) that is written out, at most the last one"
        chosen = position, controls.slider(NAME, "pair", "Follow pair j", (0, 31), help)
    from models.positional import sinusoidal
    from viz import figures

    at, pair = min(chosen[0], length - 1), min(chosen[1], dim // 2 - 1)
    table = sinusoidal(length, dim)
    drawn = figures.heatmap(
        table.numpy(),
        title=f"Sinusoidal: {length} positions × {dim} features",
        x="feature",
        y="position",
        bar="value",
        low=-1,
        high=1,
        mark=(at, 2 * pair),
    )
    frame.figure(NAME, drawn, "table", "Heat map of the numbers that are added at every position")
    _followed(table, at, pair)
    if (at, pair) != chosen:
        st.caption(f"The table ends at position {length - 1} and pair {dim // 2 - 1}.")
    rows, cols = _ends(length), _ends(dim)
    frame.show(
        tables.matrix(
            table[rows][:, cols].tolist(),
            title="The corners of the table: first and last positions and features",
            rows=[f"position {n}" for n in rows],
            cols=[str(n) for n in cols],
            axes=("position", "feature"),
            kind="signed",
            digits=5,
            printed=True,
        )
    )


def _ends(count: int) -> list[int]:
    """The first and last indices of an axis; all if there are few."""
    half = LINES // 2
    few = range(count) if count <= LINES else [*range(half), *range(count - half, count)]
    return list(few)


def _followed(table: "Tensor", at: int, pair: int) -> None:
    from models.positional import sinusoidal

    dim = table.shape[1]
    rate = 10_000 ** (-2 * pair / dim)
    sine, cosine = sinusoidal(at + 1, dim)[at, 2 * pair : 2 * pair + 2].tolist()
    angle = f"**{at} / 10000**^{{**{2 * pair}/{dim}**}}"
    frame.show(
        tables.lines(
            f"{angle} = {number(at * rate)}: feature {2 * pair} is its sine,"
            f" **{number(sine, 5)}**, feature {2 * pair + 1} its cosine, **{number(cosine, 5)}**",
        )
    )


def _permutation(count: int, order: str) -> list[int]:
    """A permutation of `count` words."""
    first = list(range(count))
    if order == "reverse":
        return first[::-1]
    if order == "turn":
        return [*first[1:], 0]
    return [first[-1], *first[1:-1], 0] if count > 1 else first


def _order() -> None:
    from models.lessons.order import permuted

    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        words = entry.text(NAME, "words", "Words", width=400).split()
        how = controls.choice(NAME, "order", "The other order", ORDERS, "How words are permuted")
    if not 1 <= len(words) <= WORDS:
        raise ValueError(f"words: expected 1 to {WORDS}, received {len(words)}")
    if max(map(len, words)) > LETTERS:
        raise ValueError(f"words: expected words of at most {LETTERS} letters")
    order = _permutation(len(words), how)
    shown = []
    for positions in (False, True):
        found = permuted(words, order, positions=positions)
        kind = "with" if positions else "without"
        pairs = zip(found.after.tolist(), found.moved.tolist(), strict=True)
        shown.append(
            tables.matrix(
                [[*row[:3], moved] for row, moved in pairs],
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
        tables.row(*shown),
    )


def _slip() -> None:
    from analysis.similarity import by_distance
    from models.attention.relative import distances
    from models.lessons import order
    from models.lessons.order import circle, misread
    from viz import figures

    help = "As in the code, or as printed"
    slip = controls.choice(NAME, "slip", "The cosine's exponent", SLIPS, help)
    length, dim = session.get(NAME, "length"), session.get(NAME, "dim")
    chosen = list(SLIPS).index(slip)
    pair = min(session.get(NAME, "pair"), dim // 2 - 1)
    table = misread(length, dim, order.SLIPS[chosen])
    apart = distances(length, length).abs().float()
    found = by_distance(table @ table.T, apart)
    drawn = figures.curves(
        found.distance.numpy(),
        {"mean": found.mean.numpy()},
        title="Dot product of two positions, by distance",
        x="distance",
        y="dot product",
        band=(found.low.numpy(), found.high.numpy()),
        height=300,
    )
    squares = circle(table)[:, pair]
    frame.figure(NAME, drawn, "slip", "Mean, smallest and largest dot product at every distance")
    frame.shapes(
        ("exponent", list(SLIPS.values())[chosen]),
        ("P_{1,1}: position 1, feature 1", number(table[1, 1].item(), 5)),
        (
            f"sin² + cos² of pair {pair}",
            f"{number(squares.min().item())} to {number(squares.max().item())}",
        ),
        ("widest spread at one distance", number((found.high - found.low).max().item())),
    )


def _learned() -> None:
    """Similarity of positions in MiniLM's table and in the sinusoidal table."""
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
            values, title=name, x="position", y="position", bar="cosine", low=-1, high=1, height=380
        )
        with column:
            alt = f"Cosine of every two of the first 64 positions: {name}"
            frame.figure(NAME, drawn, name.split()[0], alt)
    frame.text(texts.LEARNED_NOTE)
    at = controls.slider(
        NAME, "token", "Position to compare", (0, 62), "With the position after it"
    )
    frame.shapes(
        ("[[parameters]], learned", f"{count} × {dim} = {learned.numel():,}"),
        ("parameters, fixed", "0"),
        *(
            (f"{name}: cosine of positions {at} and {at + 1}", number(float(values[at, at + 1])))
            for name, values in shown.items()
        ),
        ("positions in the table, learned", str(count)),
        ("positions that can be computed, fixed", "any"),
    )
    _explore()


def _explore() -> None:
    """A link to the Positions page, with the sizes rounded to its steps."""
    settings = session.current(NAME).settings
    length, width = (max(8, step * -(-settings[name] // step)) for name, step in SIZES.items())
    frame.explore(
        "This table, and all other schemes, in the Positions page",
        "positions",
        length=length,
        width=width,
        position=min(settings["at"], length - 1),
        dim=min(2 * settings["pair"], width - 2),
    )


def _code() -> None:
    from models.lessons import order
    from models.positional import Learned, Sinusoidal, sinusoidal

    frame.code(NAME, sinusoidal, Sinusoidal, Learned, order.permuted, order.misread)
