"""Soft dictionary: editable keys and values, a query, and the weighted answer."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import streamlit as st

from viz.pages import shared
from viz.pages.lessons import frame, tables
from viz.pages.lessons.dictionary import texts
from viz.pages.lessons.dictionary.data import LONGEST, MOST, Entries, answer, entries, similarities
from viz.pages.lessons.dictionary.story import STORY
from viz.pages.lessons.markup import plain
from viz.pages.lessons.tables import bracketed, number
from viz.pages.state import params as link
from viz.pages.state import session
from viz.pages.widgets import controls, entry

if TYPE_CHECKING:
    from torch import Tensor

NAME = "dictionary"
STEPS = ("keys", "similarity", "weights", "× value", "sum")
HEIGHTS = "Ann: 167\nMike: 186\nMichelle: 170\nAndrew: 176"
SIMILARITIES = {
    "exact": "Exact match",
    "edit": "Edit distance, exp(−d)",
    "embedding": "Embedding (MiniLM)",
    "given": "Typed by hand",
}
HOW = {
    "none": "None",
    "one-hot": "One-hot",
    "top-k": "Top-k",
    "average": "Average",
    "sum": "Sum to one",
    "softmax": "Softmax",
}
PARAMS = (
    link.text("pairs", HEIGHTS),
    link.text("query", "Anna"),
    link.choice("similarity", "edit", SIMILARITIES),
    link.text("given", "0.98 0.05 0.05 0.1"),
    link.choice("how", "softmax", HOW),
    link.decimal("temperature", 0.2, 0.05, 5.0),
    link.number("k", 2, 1, MOST),
    frame.step(STEPS),
)


class Column(NamedTuple):
    """One column of the table.

    Attributes:
        step: first step that shows it.
        title: in `markup`, like the cells.
        cells: one per key.
        total: sum of the column.
    """

    step: int
    title: str
    cells: list[str]
    total: str = ""


def page() -> None:
    """Draws the lesson."""
    with frame.lesson(NAME, PARAMS):
        frame.story(NAME, STORY)
        with frame.details(NAME, PARAMS):
            _details()
        query = session.get(NAME, "query")
        frame.explore("See how MiniLM reads the query", model="minilm", input=query)
        _code(session.get(NAME, "similarity"))
        frame.takeaways(*texts.TAKEAWAYS)


def _details() -> None:
    frame.text(*texts.TEXT)
    frame.formula(*texts.FORMULAS)
    frame.text(texts.WHERE)
    _controls()
    similarity, how = session.get(NAME, "similarity"), session.get(NAME, "how")
    frame.text(texts.SIMILARITY[similarity], texts.HOW[how])
    at = frame.stepper(NAME, STEPS)
    try:
        _answer(at)
    except ValueError as error:
        shared.error_line(error)
    frame.tries(NAME, PARAMS, *texts.TRIES)


def _controls() -> None:
    left, right = st.columns([2, 5], gap="medium")
    with left:
        label = "Keys and values, one “key: value” a line"
        controls.text_input(NAME, "pairs", label, height=190)
    with right:
        entry.text(NAME, "query", "Query", width=240)
        help = "How similarity is measured"
        kind = controls.choice(NAME, "similarity", "Similarity", SIMILARITIES, help)
        if kind == "given":
            controls.text_input(NAME, "given", "Similarities, one for each key")
        help = "How similarities become weights"
        how = controls.choice(NAME, "how", "Normalisation", HOW, help)
        if how == "softmax":
            help = "Divides the similarities: if small, the best key wins; if large, all are equal"
            span = (0.05, 5.0)
            controls.decimal_slider(NAME, "temperature", "Temperature", span, help, step=0.05)
        if how == "top-k":
            controls.slider(NAME, "k", "k", (1, MOST), "Number of keys that share the weight")


def _weights(similar: "Tensor") -> "Tensor":
    """Weights by the chosen normalisation; ValueError where it is undefined."""
    from models.lessons import dictionary

    how, temperature, k = (session.get(NAME, name) for name in ("how", "temperature", "k"))
    return dictionary.normalised(similar, how, temperature=temperature, k=k)


def _answer(at: int) -> None:
    found = entries(session.get(NAME, "pairs"))
    query = session.get(NAME, "query").strip()
    if not 1 <= len(query) <= LONGEST:
        raise ValueError(f"expected a query of 1 to {LONGEST} letters, received {len(query)}")
    kind, typed = session.get(NAME, "similarity"), session.get(NAME, "given")
    similar = similarities(kind, query, found.keys, typed)
    refused = None
    try:
        weights = _weights(similar)
    except ValueError as error:
        refused, at = error, min(at, 1)
        weights = similar
    _table(found, query, similar, weights, at)
    if refused is not None:
        shared.error_line(refused)
        return
    if at > 1:
        _sum(found, weights, at)
    if at == len(STEPS) - 1:
        _fixed(found, query)


def _table(found: Entries, query: str, similar: "Tensor", weights: "Tensor", at: int) -> None:
    shown = [each for each in _columns(found, query, similar, weights) if each.step <= at]
    rows = [list(row) for row in zip(*(each.cells for each in shown), strict=True)]
    if at == len(STEPS) - 1:
        rows.append([each.total for each in shown])
    count = tables.counted(len(found.keys), "key")
    title = f"The dictionary, asked for “{plain(query)}”"
    parts = [tables.table(title, [each.title for each in shown], rows)]
    if at > 1:
        pairs = list(zip(found.keys, weights.tolist(), strict=True))
        parts.append(tables.bars("Weights α(q, k)", pairs, full=1.0))
    wide = "1 number" if found.numbers is not None else "a word"
    frame.show(tables.row(*parts))
    frame.shapes(
        ("similarities", f"1 query × {count}"),
        ("weights", f"1 query × {count}"),
        ("values", f"{count} × {wide}"),
        ("answer", f"1 query × {wide}"),
    )


def _columns(found: Entries, query: str, similar: "Tensor", weights: "Tensor") -> Iterator[Column]:
    """The columns from left to right, in the order of computation."""
    from models.lessons import dictionary

    yield Column(0, "[[key]]", [plain(key) for key in found.keys], "sum")
    yield Column(0, "[[value]]", [plain(value) for value in found.values])
    if session.get(NAME, "similarity") == "edit":
        distances = [str(dictionary.edit_distance(query, key)) for key in found.keys]
        yield Column(1, "[[edit distance|d]]", distances)
    yield Column(1, "[[similarity]] s", _numbers(similar))
    if session.get(NAME, "how") == "softmax":
        exps, shift = dictionary.exponentials(similar, session.get(NAME, "temperature"))
        title = f"exp(s / T − {bracketed(number(shift))})" if shift else "exp(s / T)"
        yield Column(2, title, _numbers(exps), number(exps.sum().item()))
    yield Column(2, "[[weights|weight]] α", _numbers(weights), number(weights.sum().item()))
    total = answer(found, weights) if found.numbers is not None else ""
    yield Column(3, "α × value", _products(found, weights), total)


def _numbers(values: "Tensor") -> list[str]:
    return [number(each) for each in values.tolist()]


def _products(found: Entries, weights: "Tensor") -> list[str]:
    """Each weight times its value; for words, the factors only."""
    import torch

    from models.lessons import dictionary

    if found.numbers is None:
        pairs = zip(weights.tolist(), found.values, strict=True)
        return [f"{number(weight)} × {plain(value)}" for weight, value in pairs]
    values = torch.tensor(found.numbers)[:, None]
    return _numbers(dictionary.contributions(weights, values)[:, 0])


def _sum(found: Entries, weights: "Tensor", at: int) -> None:
    from models.lessons import dictionary

    total, case = float(weights.sum()), dictionary.case(weights)
    facts = [("Weights sum to", number(total)), ("Case", f"**{case}**")]
    if at == len(STEPS) - 1:
        facts.insert(1, ("Answer", f"**{plain(answer(found, weights))}**"))
    frame.show(tables.facts(*facts))
    frame.text(_meaning(case, numbers=found.numbers is not None))
    if found.numbers is None and at == len(STEPS) - 1:
        mixed = dictionary.shares(weights, found.values)
        frame.show(tables.bars("What each value gets", list(mixed.items())))
        frame.text(texts.WORDS)


def _meaning(case: str, *, numbers: bool) -> str:
    """The explanation of a case."""
    sentences = [texts.CASES[case]]
    if case == "average pooling":
        ignored = session.get(NAME, "how") == "average"
        sentences.append(texts.UNASKED if ignored else texts.EQUAL)
    if numbers and case in texts.ANSWERS:
        sentences.append(texts.ANSWERS[case])
    return " ".join(sentences)


def _fixed(found: Entries, query: str) -> None:
    """Every key as a query: answers of attention, and of one fixed context vector."""
    from models.lessons import dictionary

    frame.heading("Against one fixed context vector")
    frame.text(texts.FIXED)
    kind = session.get(NAME, "similarity")
    if kind == "given":
        frame.text(texts.TYPED)
        return
    rows = []
    for each in dict.fromkeys([query, *found.keys]):
        similar = similarities(kind, each, found.keys, "")
        try:
            attended = answer(found, _weights(similar))
        except ValueError:
            attended = "refused"
        fixed = answer(found, dictionary.normalised(similar, "average"))
        rows.append([plain(each), plain(attended), plain(fixed)])
    frame.show(tables.table("Answers", ["Query", "Attention", "One fixed vector"], rows, marked=0))


def _code(similarity: str) -> None:
    from models.lessons import dictionary

    kinds = {
        "exact": [dictionary.exact],
        "edit": [dictionary.edit_distance, dictionary.edits],
        "embedding": [dictionary.meaning, dictionary.embedded],
        "given": [],
    }
    rest = (
        dictionary.exponentials,
        dictionary.normalised,
        dictionary.contributions,
        dictionary.pooled,
        dictionary.shares,
        dictionary.case,
    )
    frame.code(NAME, *kinds[similarity], *rest)
