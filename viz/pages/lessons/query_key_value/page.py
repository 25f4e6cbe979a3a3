"""Query, key, value: three matrices and four steps."""

from typing import TYPE_CHECKING, NamedTuple

import streamlit as st

from viz.pages.lessons import frame, inputs, tables
from viz.pages.lessons.query_key_value import texts
from viz.pages.lessons.query_key_value.story import STORY
from viz.pages.lessons.tables import number
from viz.pages.state import params as link
from viz.pages.state import session
from viz.pages.widgets import controls

if TYPE_CHECKING:
    from models.attention import Pattern
    from models.lessons.followed import Followed

NAME = "query_key_value"
STEPS = ("q k v", "scores", "softmax", "· V")
NAMES = ("word 0", "word 1")
INPUTS, FEATURES = ("input 0", "input 1", "input 2"), ("feature 0", "feature 1")
READINGS = {"both": "Both", "word": "Word by word", "columns": "Words as columns"}
EDITS = {"x": "the words x", "q": "$W_q$", "k": "$W_k$", "v": "$W_v$"}
PARAMS = (
    *inputs.params("x", texts.X),
    *inputs.params("q", texts.QUERY),
    *inputs.params("k", texts.KEY),
    *inputs.params("v", texts.VALUE),
    frame.step(STEPS),
    link.choice("edit", "x", EDITS),
    link.number("word", 0, 0, 1),
    link.choice("reading", "both", READINGS),
)
# of older links, to what is now in the lesson on blocks
RETIRED = tuple(link.retired(f"w{row}{col}") for row in (1, 2) for col in (1, 2, 3))


class Reading(NamedTuple):
    """One reading of the formula: its pattern, every step, and the meaning of its axes."""

    pattern: "Pattern"
    steps: "Followed"
    thing: str
    names: tuple[str, ...]
    other: str
    others: tuple[str, ...]
    root: str


def page() -> None:
    """Draws the lesson."""
    with frame.lesson(NAME, (*PARAMS, *RETIRED)):
        frame.story(NAME, STORY)
        with frame.details(NAME, PARAMS):
            _details()
        from models import simple
        from models.attention import functional as attend
        from models.lessons import followed

        frame.code(
            NAME,
            *(simple.word_by_word, simple.feature_by_feature, simple.one_head, attend.attend),
            followed.follow,
        )
        frame.takeaways(*texts.TAKEAWAYS)


def _details() -> None:
    frame.text(*texts.TEXT)
    frame.formula(
        r"\operatorname{Attention}(Q, K, V)"
        r" = \operatorname{softmax}\left(\frac{Q K^\top}{\sqrt{d_k}}\right) V"
    )
    frame.text(texts.WHERE)
    frame.heading("Two words and three matrices: change any number")
    frame.text(texts.COLUMNS)
    _controls()
    at = frame.stepper(NAME, STEPS)
    by_word, by_feature = _both()
    with st.container(horizontal=True, gap="medium"):
        words = dict(enumerate(NAMES))
        controls.choice(NAME, "word", "Four steps for", words, "Whose sums are shown")
    frame.show(_inputs(), tables.lines(*_sums(by_word, at)))
    frame.heading("All words at once, as matrices")
    help = "The same symbols, with words as rows or as columns of x"
    controls.choice(NAME, "reading", "Reading", READINGS, help)
    _readings(by_word, by_feature, at)
    frame.tries(NAME, PARAMS, *texts.TRIES)


def _both() -> tuple[Reading, Reading]:
    """Both readings of the inputs: word by word, and with words as columns."""
    import torch

    from models import simple
    from models.lessons import followed

    shapes = {"x": (3, 2), "q": (2, 3), "k": (2, 3), "v": (2, 3)}
    x, *weights = (torch.tensor(inputs.values(NAME, n, *size)) for n, size in shapes.items())
    matrices = simple.Matrices(*weights)
    _, word = simple.word_by_word(x.T[None], matrices)
    _, feature = simple.feature_by_feature(x[None], matrices)
    return (
        Reading(word, followed.follow(word), "word", NAMES, "feature", FEATURES, "√2"),
        Reading(feature, followed.follow(feature), "feature", FEATURES, "word", NAMES, "√3"),
    )


def _controls() -> None:
    help = "Which numbers to edit below; all of them are used"
    with st.container(horizontal=True, gap="medium"):
        chosen = controls.choice(NAME, "edit", "Change", EDITS, help)
    if chosen == "x":
        inputs.grid(NAME, "x", INPUTS, NAMES)
    else:
        inputs.grid(NAME, chosen, FEATURES, INPUTS)


def _inputs() -> str:
    """The inputs: the words, and the three matrices."""
    x = inputs.values(NAME, "x", 3, 2)
    parts = [tables.matrix(x, title="x", rows=INPUTS, cols=NAMES, axes=("input", "word"))]
    for name in ("q", "k", "v"):
        values = inputs.values(NAME, name, 2, 3)
        axes, title = ("feature", "input"), f"W_{{{name}}}"
        parts.append(tables.matrix(values, title=title, cols=INPUTS, axes=axes))
    return tables.row(*parts)


def _sums(reading: Reading, at: int) -> list[str]:
    """The four steps for one word, written out as sums."""
    n = session.get(NAME, "word")
    pattern, steps = reading.pattern, reading.steps
    q, k, v = (_vector(each[0, 0, n].tolist()) for each in (pattern.q, pattern.k, pattern.v))
    scores, exps = steps.scores[n].tolist(), steps.exponentials[n].tolist()
    products, shift = steps.products[n].tolist(), steps.shifts[n].item()
    query, keys = pattern.q[0, 0, n].tolist(), pattern.k[0, 0].tolist()
    dots = "; ".join(
        f"q_{{{n}}}·k_{{{m}}} / √2 = ({tables.dot(query, key)}) / √2 ="
        f" {number(p)} / √2 = **{number(s)}**"
        for m, (key, p, s) in enumerate(zip(keys, products, scores, strict=True))
    )
    total = number(steps.sums[n].item())
    shares = "; ".join(
        f"{tables.exp(s, shift)} / {total} = **{number(w)}**"
        for s, w in zip(scores, steps.weights[n].tolist(), strict=True)
    )
    mixed = " + ".join(
        f"{number(w)}·{_vector(value)}"
        for w, value in zip(steps.weights[n].tolist(), pattern.v[0, 0].tolist(), strict=True)
    )
    parts, result = " + ".join(map(number, exps)), _vector(steps.values[n].tolist())
    return [
        f"**1 Three vectors.** q_{{{n}}} = W_{{q}} x_{{{n}}} = {q}; k_{{{n}}} = {k};"
        f" v_{{{n}}} = {v}",
        f"**2 Scores.** {dots}",
        f"**3 Softmax.** The exponentials sum to {parts} = {total}: {shares}",
        f"**4 Weighted sum** of v_{{0}} and v_{{1}}: {mixed} = **{result}**",
    ][: at + 1]


def _vector(values: list[float]) -> str:
    return f"({', '.join(map(number, values))})"


def _readings(by_word: Reading, by_feature: Reading, at: int) -> None:
    shown = "both" if frame.printing(NAME) else session.get(NAME, "reading")
    if shown != "columns":
        frame.text(texts.BY_WORD)
        frame.show(_matrices(by_word, at))
    if shown != "word":
        frame.text(texts.BY_FEATURE)
        frame.show(_matrices(by_feature, at))


def _matrices(reading: Reading, at: int) -> str:
    """Every matrix of a reading up to a step."""
    pattern, steps, names = reading.pattern, reading.steps, reading.names
    wide = {"rows": names, "cols": reading.others, "axes": (reading.thing, reading.other)}
    vectors = [
        tables.matrix(each[0, 0].tolist(), title=title, **wide)
        for title, each in (("Q", pattern.q), ("K", pattern.k), ("V", pattern.v))
    ]
    pair = ("query", "key") if reading.thing == "word" else (reading.thing, reading.thing)
    square = {"rows": names, "cols": names, "axes": pair}
    scores = [
        tables.matrix(steps.products.tolist(), title="QKᵀ", kind="signed", **square),
        tables.matrix(
            steps.scores.tolist(), title=f"QKᵀ / {reading.root}", kind="signed", **square
        ),
    ]
    weights = tables.matrix(steps.weights.tolist(), title="Weights", kind="weights", **square)
    result = tables.matrix(steps.values.tolist(), title="Result", **wide)
    groups = [scores, [weights], [result]]
    then = [part for group in groups[:at] for part in group]
    return tables.row(*vectors) + tables.row(*then)
