"""Query, key, value: three matrices, four steps, and the smallest transformer."""

from typing import TYPE_CHECKING, NamedTuple

import streamlit as st

from viz.pages import controls
from viz.pages.lesson import frame, inputs, tables
from viz.pages.lesson import query_key_value_texts as texts
from viz.pages.lesson.tables import number

if TYPE_CHECKING:
    from models.attention import Pattern
    from models.lessons.followed import Followed

NAME = "query_key_value"
STEPS = ("q k v", "scores", "softmax", "· V")
NAMES = ("word 1", "word 2")
INPUTS, FEATURES = ("input 1", "input 2", "input 3"), ("feature 1", "feature 2")
READINGS = {"both": "Side by side", "word": "Word by word", "columns": "As printed"}
EDITS = {"x": "the words", "q": "W_q", "k": "W_k", "v": "W_v"}
PARAMS = (
    *inputs.params("x", texts.X),
    *inputs.params("q", texts.QUERY),
    *inputs.params("k", texts.KEY),
    *inputs.params("v", texts.VALUE),
    *inputs.params("w", texts.WORDS),
    frame.step(STEPS),
    frame.link.choice("edit", "x", EDITS),
    frame.link.number("word", 1, 1, 2),
    frame.link.choice("reading", "both", READINGS),
)


class Reading(NamedTuple):
    """One way to read the same symbols: its pattern, every step, and what its axes count."""

    pattern: "Pattern"
    steps: "Followed"
    thing: str
    names: tuple[str, ...]
    other: str
    root: str


def draw() -> None:
    """The lesson, top to bottom."""
    frame.text(*texts.TEXT)
    frame.formula(texts.FORMULA)
    _controls()
    at = frame.stepper(NAME, STEPS)
    from models import attend, simple
    from models.lessons import followed

    by_word, by_feature = readings()
    with st.container(horizontal=True, gap="medium"):
        words = {1: "word 1", 2: "word 2"}
        controls.choice(NAME, "word", "Four steps for", words, "Whose sums are written out")
    frame.show(tables.lines(*_written(by_word, at)))
    frame.heading("All words at once, as matrices")
    told = "The same symbols, with words as rows or as columns of x"
    controls.choice(NAME, "reading", "Reading", READINGS, told)
    _readings(by_word, by_feature, at)
    frame.heading("Without a scale, and the smallest transformer")
    _smallest()
    frame.tries(NAME, *texts.TRIES)
    frame.explore("The smallest transformer, part by part", "lab/architecture", preset="smallest")
    frame.code(
        NAME,
        *(simple.word_by_word, simple.feature_by_feature, simple.one_head, attend.attend),
        *(followed.follow, simple.unscaled, simple.Smallest),
    )
    frame.took(*texts.TAKEN)


def readings() -> tuple[Reading, Reading]:
    """Both readings of what the boxes hold: word by word, and with words as columns."""
    import torch

    from models import simple
    from models.lessons import followed

    shapes = {"x": (3, 2), "q": (2, 3), "k": (2, 3), "v": (2, 3)}
    x, *weights = (torch.tensor(inputs.values(NAME, n, *size)) for n, size in shapes.items())
    matrices = simple.Matrices(*weights)
    _, word = simple.word_by_word(x.T[None], matrices)
    _, feature = simple.feature_by_feature(x[None], matrices)
    return (
        Reading(word, followed.follow(word), "word", NAMES, "feature", "√2"),
        Reading(feature, followed.follow(feature), "feature", FEATURES, "word", "√3"),
    )


def _controls() -> None:
    told = "Which numbers the boxes below show; all of them count"
    with st.container(horizontal=True, gap="medium"):
        controls.choice(NAME, "edit", "Change", EDITS, told)
    chosen = st.session_state[f"{NAME}_edit"]
    if chosen == "x":
        inputs.grid(NAME, "x", INPUTS, NAMES)
    else:
        inputs.grid(NAME, chosen, FEATURES, INPUTS)


def _written(reading: Reading, at: int) -> list[str]:
    """One word in four steps, as sums of numbers that the matrices below hold."""
    row = st.session_state[f"{NAME}_word"] - 1
    pattern, steps = reading.pattern, reading.steps
    n = row + 1
    q, k, v = (_vector(each[0, 0, row].tolist()) for each in (pattern.q, pattern.k, pattern.v))
    scores, exps = steps.scores[row].tolist(), steps.exponentials[row].tolist()
    products = steps.products[row].tolist()
    dots = "; ".join(
        f"q_{{{n}}}·k_{{{m}}} / √2 = {number(p)} / √2 = **{number(s)}**"
        for m, (p, s) in enumerate(zip(products, scores, strict=True), 1)
    )
    total = number(steps.sums[row].item())
    shares = "; ".join(
        f"exp({number(s)}) / {total} = **{number(w)}**"
        for s, w in zip(scores, steps.weights[row].tolist(), strict=True)
    )
    mixed = " + ".join(
        f"{number(w)}·v_{{{m}}}" for m, w in enumerate(steps.weights[row].tolist(), 1)
    )
    parts = " + ".join(map(number, exps))
    return [
        f"**1 Three vectors.** q_{{{n}}} = W_{{q}} x_{{{n}}} = {q}; k_{{{n}}} = {k};"
        f" v_{{{n}}} = {v}",
        f"**2 Scores.** {dots}",
        f"**3 Softmax.** The exponentials sum to {parts} = {total}: {shares}",
        f"**4 Weighted sum.** {mixed} = **{_vector(steps.values[row].tolist())}**",
    ][: at + 1]


def _vector(values: list[float]) -> str:
    return f"({', '.join(map(number, values))})"


def _readings(by_word: Reading, by_feature: Reading, at: int) -> None:
    shown = "both" if frame.printing(NAME) else st.session_state[f"{NAME}_reading"]
    if shown != "columns":
        frame.text(texts.BY_WORD)
        frame.show(_matrices(by_word, at))
    if shown != "word":
        frame.text(texts.BY_FEATURE)
        frame.show(_matrices(by_feature, at))


def _matrices(reading: Reading, at: int) -> str:
    """Every matrix of a reading up to a step."""
    pattern, steps, names = reading.pattern, reading.steps, reading.names
    axes, pairs = (reading.thing, reading.other), (reading.thing, reading.thing)
    vectors = [
        tables.matrix(each[0, 0].tolist(), title=title, rows=names, axes=axes)
        for title, each in (("Q", pattern.q), ("K", pattern.k), ("V", pattern.v))
    ]
    square = {"rows": names, "cols": names, "axes": pairs}
    scores = [
        tables.matrix(steps.products.tolist(), title="QKᵀ", kind="signed", **square),
        tables.matrix(
            steps.scores.tolist(), title=f"QKᵀ / {reading.root}", kind="signed", **square
        ),
    ]
    weights = tables.matrix(steps.weights.tolist(), title="Weights", kind="weights", **square)
    result = tables.matrix(steps.values.tolist(), title="Result", rows=names, axes=axes)
    groups = [vectors, scores, [weights], [result]]
    return tables.row(*(part for group in groups[: at + 1] for part in group))


def _smallest() -> None:
    """Unscaled attention and the smallest transformer on words of the reader's."""
    import torch

    from models import simple
    from models.lessons import followed

    frame.text(*texts.SMALLEST)
    words = inputs.grid(NAME, "w", NAMES, INPUTS)
    example, x = simple.worked_example(), torch.tensor([words])
    with torch.no_grad():
        out, pattern = example.attention(x)
        steps = followed.follow_smallest(example.transformer, x)
        found = followed.follow(pattern)
    axes = ("word", "feature")
    frame.show(
        tables.row(
            tables.matrix(words, title="Words x", rows=NAMES, axes=axes),
            tables.matrix(
                found.weights.tolist(),
                title="Weights, no scale",
                rows=NAMES,
                axes=("word", "word"),
                kind="weights",
            ),
            tables.matrix(out[0].tolist(), title="Unscaled attention", rows=NAMES, axes=axes),
        ),
        tables.row(
            tables.matrix(
                steps.attended.tolist(), title="Transformer: its attention", rows=NAMES, axes=axes
            ),
            tables.matrix(steps.added.tolist(), title="x + attention", rows=NAMES, axes=axes),
            tables.matrix(
                steps.normed.tolist(), title="[[layer normalisation|Norm]]", rows=NAMES, axes=axes
            ),
            tables.matrix(
                steps.predictions.tolist(), title="Prediction", rows=NAMES, axes=("word", "number")
            ),
        ),
    )
