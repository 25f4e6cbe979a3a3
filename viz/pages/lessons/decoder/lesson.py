"""The decoder: what a mask hides, why it takes −∞ to do so, and writing a token at a time."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import streamlit as st

from viz.pages import shared
from viz.pages.lessons import cells, frame, tables, writing
from viz.pages.lessons.decoder import texts as decoder_texts
from viz.pages.lessons.decoder import writing as decoder_writing
from viz.pages.lessons.prose import plain
from viz.pages.lessons.tables import number
from viz.pages.state import params as link
from viz.pages.widgets import controls

if TYPE_CHECKING:
    from models.attention import Mask, Pattern
    from models.lessons.followed import Followed

NAME = "decoder"
STEPS = ("Q Kᵀ", "scale", "mask", "softmax", "· V")
MASKS = {"none": "none", "causal": "causal", "padding": "padding", "both": "both"}
FILLS = {"inf": "−∞", "large": "−1e9"}
WIDTH = 4
PAD = "[PAD]"
MOST, LONG = 6, 14  # words, and letters of a word, that fit on a page
PARAMS = (
    link.text("words", "the dog saw a"),
    link.choice("mask", "causal", MASKS),
    link.number("pads", 1, 0, 4),
    link.choice("fill", "inf", FILLS),
    link.number("query", 2, 1, 9),
    link.number("seed", 0, 0, 999),
    frame.step(STEPS),
    link.choice("writer", "grammar-next", writing.WRITERS),
    link.text("prompt", "the keys near the cabinet"),
    link.text("date", "March the third, '98"),
    link.text("start", "the dog"),
    link.number("written", 0, 0, writing.LIMIT),
)


def draw() -> None:
    """The lesson, top to bottom."""
    frame.text(*decoder_texts.TEXT)
    frame.formula(
        r"\operatorname{softmax}\!\Big(\frac{Q K^\top}{\sqrt{d}} + M\Big) V",
        r"M_{ij} = \begin{cases} 0 & \text{if } i \text{ may see } j\\ -\infty & \text{if not}"
        r"\end{cases}",
    )
    frame.text(*decoder_texts.HEAD_TEXT)
    words = _controls()
    at = frame.stepper(NAME, STEPS)
    try:
        _masked(words, at)
    except ValueError as error:
        shared.error_line(error)
    frame.heading("−∞ or −1e9: a query that sees no key")
    frame.text(*decoder_texts.FILL_TEXT)
    _hidden_row()
    frame.heading("Writing, a token at a time")
    frame.text(*decoder_texts.WRITE_TEXT)
    try:
        decoder_writing.draw()
    except ValueError as error:
        shared.error_line(error)
    frame.tries(NAME, *decoder_texts.TRIES)
    _code()
    frame.took(*decoder_texts.TAKEN)


def _said(name: str) -> str:
    return st.session_state[f"{NAME}_{name}"]


def _controls() -> list[str]:
    """The words that are read, padding behind them."""
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        st.text_input(f"Words, at most {MOST}", key=f"{NAME}_words", persist_state="session")
        controls.slider(NAME, "pads", "Padding", (0, 4), "Tokens that only fill up")
        controls.slider(NAME, "query", "Follow token", (1, 9), "Whose row is written out")
        controls.seed(NAME, "Draws other words and matrices")
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        controls.choice(NAME, "mask", "Mask", MASKS, "What is hidden")
        controls.choice(NAME, "fill", "Hidden scores become", FILLS, "What stands for “hidden”")
    words = _said("words").split()
    if len(words) > MOST:
        shared.notice(f"Only the first {MOST} of {len(words):,} words are shown.")
    shown = [word if len(word) <= LONG else f"{word[: LONG - 1]}…" for word in words[:MOST]]
    return [*shown, *[PAD] * int(_said("pads"))]


def _mask(words: list[str]) -> "Mask":
    import torch

    from models.attention import Mask
    from models.lessons.hidden_row import LARGE

    mask, fill = _said("mask"), LARGE if _said("fill") == "large" else None
    padding = torch.tensor([[word == PAD for word in words]])
    return Mask(
        causal=mask in ("causal", "both"),
        padding=padding if mask in ("padding", "both") else None,
        fill=fill,
    )


def _masked(words: list[str], at: int) -> None:
    """One head over the words, step by step."""
    if not words:
        raise ValueError("words: expected at least one word or padding, received none")
    from models.lessons.followed import follow

    pattern = _pattern(words)
    found = follow(pattern)
    row = min(int(_said("query")), len(words)) - 1
    names = [f"{n} {word}" for n, word in enumerate(words, 1)]

    def square(values: Sequence[tables.Row], title: str, kind: str) -> str:
        return tables.matrix(
            values,
            title=title,
            rows=names,
            cols=words,
            axes=("query", "key"),
            kind=kind,
            digits=3,
            mark=(row, None),
        )

    plain = "signed" if _said("fill") == "inf" else "plain"  # −1e9 would take all the colour
    parts = [
        ("Q Kᵀ", lambda: square(found.products.tolist(), "Q Kᵀ", "signed")),
        ("Scaled", lambda: square(found.scores.tolist(), "Scaled by 1/√d", "signed")),
        ("Masked", lambda: square(found.masked.tolist(), "Masked", plain)),
        ("Weights", lambda: square(found.weights.tolist(), "[[Weights]]", "weights")),
        ("Result", lambda: _values(found, names, row)),
    ]
    shown = [make() if n <= at else tables.pending(name) for n, (name, make) in enumerate(parts)]
    if row + 1 < int(_said("query")):
        st.caption(f"There are {tables.counted(len(words), 'token')}: the last one is followed.")
    frame.show(_made(pattern, names, row, at))
    frame.show(tables.row(*shown), tables.lines(*_written(pattern, found, words, row)[: at + 1]))
    count, hidden = len(words), int((found.masked != found.scores).sum())
    frame.shapes(
        ("Q, K, V", f"{count} tokens × {WIDTH} features"),
        ("scores, weights", f"{count} queries × {count} keys"),
        ("hidden", f"{hidden} of {count * count}"),
        ("rows that see no key", str(pattern.empty_rows())),
    )


def _made(pattern: "Pattern", names: list[str], row: int, at: int) -> str:
    """Queries, keys and values of all words; the values once they are needed."""
    made = {"Q": pattern.q, "K": pattern.k, "V": pattern.v}
    return tables.row(
        *(
            tables.matrix(
                values[0, 0].tolist(),
                title=title,
                rows=names,
                axes=("token", "feature"),
                kind="signed",
                digits=3,
                mark=(row, None) if title == "Q" else None,
            )
            for title, values in made.items()
            if title != "V" or at >= len(STEPS) - 1
        )
    )


def _values(found: "Followed", names: list[str], row: int) -> str:
    return tables.matrix(
        found.values.tolist(),
        title="Result",
        rows=names,
        axes=("token", "feature"),
        kind="signed",
        digits=3,
        mark=(row, None),
    )


def _pattern(words: list[str]) -> "Pattern":
    import torch

    from models.attention import MultiHeadAttention, MultiHeadAttentionConfig
    from models.seeding import seeded

    known = {word: place for place, word in enumerate(dict.fromkeys(words))}
    with seeded(int(_said("seed"))), torch.no_grad():
        layer = MultiHeadAttention(MultiHeadAttentionConfig(dim=WIDTH, heads=1, qkv_bias=False))
        x = 2 * torch.randn(len(known), WIDTH)[[known[word] for word in words]]
        _, pattern = layer.eval()(x[None], mask=_mask(words))
    return pattern


def _written(pattern: "Pattern", found: "Followed", words: list[str], row: int) -> list[str]:
    """The followed row's numbers, as sums of numbers that are on the screen."""
    products, scores = found.products[row].tolist(), found.scores[row].tolist()
    asks, first = plain(words[row]), plain(words[0])
    masked, weights = found.masked[row].tolist(), found.weights[row].tolist()
    seen = [word for word, a, b in zip(words, scores, masked, strict=True) if a == b]
    exps, shift = found.exponentials[row].tolist(), found.shifts[row].item()
    less = f" less the largest, {number(shift)}" if shift else ""
    dotted = tables.dot(pattern.q[0, 0, row].tolist(), pattern.k[0, 0, 0].tolist(), 3)
    mixed = tables.dot(weights, pattern.v[0, 0, :, 0].tolist(), 3)
    share = f"{number(exps[0])} / {number(sum(exps))} = " if sum(exps) else ""
    return [
        f"**Q Kᵀ** “{asks}” with “{first}”: {dotted} = **{number(products[0])}**",
        f"**scale** {number(products[0])} / √{WIDTH} = **{number(scores[0])}**",
        f"**mask** “{asks}” sees {plain(', '.join(seen)) or 'nothing'}",
        f"**softmax** exp of each{less}: {tables.total(exps)} = {number(sum(exps))}; “{first}” gets"
        f" {share}**{number(weights[0])}**",
        f"**· V** feature 1: {mixed} = **{number(found.values[row, 0].item())}**",
    ]


def _hidden_row() -> None:
    import torch

    from models.lessons.hidden_row import hidden_row

    scores = torch.tensor([0.3, -1.0, 2.0, 0.7])
    rows = [
        [name, *("NaN" if value != value else number(value) for value in found.tolist())]
        for name, found in hidden_row(scores).items()
    ]
    titles = ("hidden by", *(f"score {number(score, 1)}" for score in scores.tolist()))
    frame.show(cells.table(titles, rows, title="Weights of a query whose four keys are all hidden"))


def _code() -> None:
    from models import decode
    from models.attention.mask import Mask
    from models.attention.pattern import Pattern
    from models.decoder import Decoder
    from models.lessons import hidden_row

    frame.code(
        NAME,
        Mask.visible,
        Pattern.scores,
        Pattern.weights,
        hidden_row.hidden_row,
        Decoder.forward,
        decode.greedy,
        decode._steps,
    )
