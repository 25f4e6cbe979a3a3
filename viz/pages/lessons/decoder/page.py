"""The decoder: causal and padding masks, why they use −∞, and generation token by token."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import streamlit as st

from viz.pages import shared
from viz.pages.lessons import frame, generation, tables
from viz.pages.lessons.decoder import texts
from viz.pages.lessons.decoder.story import STORY
from viz.pages.lessons.markup import plain
from viz.pages.lessons.tables import number
from viz.pages.state import params as link
from viz.pages.state import session
from viz.pages.text import reading
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
MOST, LONG = 6, 14  # maximum words, and letters per word, that fit on a page
PROMPTS = {"grammar-next": "prompt", "dates": "date", "untrained": "start"}  # settings
PARAMS = (
    link.text("words", "the dog saw a"),
    link.choice("mask", "causal", MASKS),
    link.number("pads", 1, 0, 4),
    link.choice("fill", "inf", FILLS),
    link.number("query", 2, 1, 9),
    link.number("seed", 0, 0, 999),
    frame.step(STEPS),
    link.choice("writer", "grammar-next", generation.WRITERS),
    link.text("prompt", "the keys near the cabinet"),
    link.text("date", "March the third, '98"),
    link.text("start", "the dog"),
    link.number("written", 0, 0, generation.LIMIT),
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
        r"\operatorname{softmax}\!\Big(\frac{Q K^\top}{\sqrt{d}} + M\Big) V",
        r"M_{ij} = \begin{cases} 0 & \text{if } i \text{ may see } j\\ -\infty & \text{if not}"
        r"\end{cases}",
    )
    frame.text(*texts.HEAD_TEXT)
    words = _controls()
    at = frame.stepper(NAME, STEPS)
    try:
        _masked(words, at)
    except ValueError as error:
        shared.error_line(error)
    frame.heading("−∞ or −1e9: a query that sees no key")
    frame.text(*texts.FILL_TEXT)
    _hidden_row()
    frame.heading("Writing, a token at a time")
    frame.text(*texts.WRITE_TEXT)
    try:
        _generate()
    except ValueError as error:
        shared.error_line(error)
    frame.tries(NAME, PARAMS, *texts.TRIES)


def _controls() -> list[str]:
    """The words of the input, followed by padding."""
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        text = controls.text_input(NAME, "words", f"Words, at most {MOST}", width=300)
        pads = controls.slider(NAME, "pads", "Padding", (0, 4), "Number of padding tokens")
        controls.slider(NAME, "query", "Follow token", (1, 9), "The token whose row is written out")
        controls.seed(NAME, "Seed of the word vectors and matrices")
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        controls.choice(NAME, "mask", "Mask", MASKS, "What is hidden")
        controls.choice(NAME, "fill", "Score of hidden keys", FILLS, "What replaces the score")
    words = text.split()
    if len(words) > MOST:
        shared.notice(f"Only the first {MOST} of {len(words):,} words are shown.")
    shown = [word if len(word) <= LONG else f"{word[: LONG - 1]}…" for word in words[:MOST]]
    return [*shown, *[PAD] * pads]


def _mask(words: list[str]) -> "Mask":
    import torch

    from models.attention import Mask
    from models.lessons.hidden_row import LARGE

    mask = session.get(NAME, "mask")
    fill = LARGE if session.get(NAME, "fill") == "large" else None
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
    query = session.get(NAME, "query")
    row = min(query, len(words)) - 1
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

    # −1e9 would dominate the colour range
    kind = "signed" if session.get(NAME, "fill") == "inf" else "plain"
    parts = [
        ("Q Kᵀ", lambda: square(found.products.tolist(), "Q Kᵀ", "signed")),
        ("Scaled", lambda: square(found.scores.tolist(), "Scaled by 1/√d", "signed")),
        ("Masked", lambda: square(found.masked.tolist(), "Masked", kind)),
        ("Weights", lambda: square(found.weights.tolist(), "[[Weights]]", "weights")),
        ("Result", lambda: _values(found, names, row)),
    ]
    shown = [make() if n <= at else tables.pending(name) for n, (name, make) in enumerate(parts)]
    if row + 1 < query:
        st.caption(f"There are {tables.counted(len(words), 'token')}: the last one is followed.")
    frame.show(_projections(pattern, names, row, at))
    frame.show(tables.row(*shown), tables.lines(*_sums(pattern, found, words, row)[: at + 1]))
    count, hidden = len(words), int((found.masked != found.scores).sum())
    frame.shapes(
        ("Q, K, V", f"{count} tokens × {WIDTH} features"),
        ("scores, weights", f"{count} queries × {count} keys"),
        ("hidden", f"{hidden} of {count * count}"),
        ("rows that see no key", str(pattern.empty_rows())),
    )


def _projections(pattern: "Pattern", names: list[str], row: int, at: int) -> str:
    """Queries, keys and values of all words; values only from the step that uses them."""
    shown = {"Q": pattern.q, "K": pattern.k, "V": pattern.v}
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
            for title, values in shown.items()
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

    ids = {word: number for number, word in enumerate(dict.fromkeys(words))}
    with seeded(session.get(NAME, "seed")), torch.no_grad():
        layer = MultiHeadAttention(MultiHeadAttentionConfig(dim=WIDTH, heads=1, qkv_bias=False))
        x = 2 * torch.randn(len(ids), WIDTH)[[ids[word] for word in words]]
        _, pattern = layer.eval()(x[None], mask=_mask(words))
    return pattern


def _sums(pattern: "Pattern", found: "Followed", words: list[str], row: int) -> list[str]:
    """The numbers of the selected row, written out as sums."""
    products, scores = found.products[row].tolist(), found.scores[row].tolist()
    query, first = plain(words[row]), plain(words[0])
    masked, weights = found.masked[row].tolist(), found.weights[row].tolist()
    visible = [word for word, a, b in zip(words, scores, masked, strict=True) if a == b]
    exps, shift = found.exponentials[row].tolist(), found.shifts[row].item()
    less = f" less the largest, {number(shift)}" if shift else ""
    dotted = tables.dot(pattern.q[0, 0, row].tolist(), pattern.k[0, 0, 0].tolist(), 3)
    mixed = tables.dot(weights, pattern.v[0, 0, :, 0].tolist(), 3)
    share = f"{number(exps[0])} / {number(sum(exps))} = " if sum(exps) else ""
    return [
        f"**Q Kᵀ** “{query}” with “{first}”: {dotted} = **{number(products[0])}**",
        f"**scale** {number(products[0])} / √{WIDTH} = **{number(scores[0])}**",
        f"**mask** “{query}” sees {plain(', '.join(visible)) or 'nothing'}",
        f"**softmax** exp of each{less}: {tables.total(exps)} = {number(sum(exps))}; “{first}” gets"
        f" {share}**{number(weights[0])}**",
        f"**· V** feature 0: {mixed} = **{number(found.values[row, 0].item())}**",
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
    frame.show(tables.table("Weights of a query whose four keys are all hidden", titles, rows))


def _generate() -> None:
    """Generation: controls, the text so far, and the next-token probabilities."""
    from viz.figures import bars

    help = "Which network writes"
    writer = controls.choice(NAME, "writer", "A decoder that knows", generation.WRITERS, help)
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        label = "A date to write out" if writer == "dates" else "Words to go on from"
        text = controls.text_input(NAME, PROMPTS[writer], label, width=300)
        span = (0, generation.LIMIT)
        help = "Number of generated tokens"
        at = controls.slider(NAME, "written", "Tokens written", span, help)
    if not generation.available(writer):
        shared.notice(generation.missing(writer))
        writer, text = "untrained", session.get(NAME, "start")
    found = generation.generated(writer, text)
    for remark in reading.remarks(found.prompt):
        shared.notice(remark)
    at = min(at, len(found.steps))
    if not frame.printing(NAME):
        ended = at == len(found.steps)
        st.button(
            "Write the next token",
            key=f"{NAME}_next",
            on_click=session.callback(_next),
            disabled=ended,
        )
    written = _listed(found.word(n) for n in range(at)) or "nothing yet"
    frame.show(tables.facts(("read", _listed(found.prompt)), ("written", written)))
    if at:
        _table(found, at)
    if at < len(found.steps):
        names, shares = zip(*found.best(at, 8), strict=True)
        drawn = bars(names, shares, title=f"Step {at + 1}: what comes next", x="probability")
        frame.figure(NAME, drawn, "next", "Probabilities of the next token")
    else:
        st.caption(_ended(found))
    line = "keys and values cached or recomputed at each step: probabilities differ by at most"
    frame.shapes((line, f"{found.difference:.1e} (rounding)"))
    if writer != "untrained":
        frame.explore("Open this in the explorer", model=writer, input=text)


def _listed(tokens: Iterable[str]) -> str:
    return plain(" ".join(map(reading.visible, tokens)))


def _next() -> None:
    session.fold(NAME)
    session.assign(NAME, {"written": session.get(NAME, "written") + 1})


def _table(found: generation.Generated, count: int) -> None:
    """The token chosen at each step, and the three most likely ones."""
    best = [found.best(n) for n in range(count)]
    frame.show(
        tables.shares(
            [[name for name, _ in row] for row in best],
            [[share for _, share in row] for row in best],
            title="What was written, and what was likely",
            rows=[f"step {n + 1}: {found.word(n)}" for n in range(count)],
            cols=("likeliest", "second", "third"),
            digits=4,
        )
    )


def _ended(found: generation.Generated) -> str:
    chosen = int(found.steps[-1].ids[0])
    if chosen == found.end:
        return f"The end: “{found.names[chosen]}” was the most likely token."
    return f"Stopped after {len(found.steps)} tokens without the end symbol."


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
