"""Soft dictionary: keys and values a reader edits, a query, and the mixture that answers."""

from typing import TYPE_CHECKING

import streamlit as st

from viz.pages import shared
from viz.pages.lessons import frame, tables
from viz.pages.lessons.dictionary import texts as dictionary_texts
from viz.pages.lessons.dictionary.columns import columns
from viz.pages.lessons.dictionary.data import LONGEST, MOST, Entries, answer, entries, similarities
from viz.pages.lessons.prose import plain
from viz.pages.lessons.tables import number
from viz.pages.state import params as link
from viz.pages.widgets import controls

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


def draw() -> None:
    """The lesson, top to bottom."""
    frame.text(*dictionary_texts.TEXT)
    frame.formula(*dictionary_texts.FORMULAS)
    frame.text(dictionary_texts.WHERE)
    _controls()
    frame.text(dictionary_texts.SIMILARITY[_said("similarity")], dictionary_texts.HOW[_said("how")])
    at = frame.stepper(NAME, STEPS)
    try:
        _answer(at)
    except ValueError as error:
        shared.error_line(error)
    frame.tries(NAME, *dictionary_texts.TRIES)
    frame.explore("See how MiniLM reads the query", model="minilm", input=_said("query"))
    _code()
    frame.took(*dictionary_texts.TAKEN)


def weights(similar: "Tensor") -> "Tensor":
    """Weights as the controls say. ValueError where that cannot be done."""
    from models.lessons import dictionary

    temperature, k = st.session_state[f"{NAME}_temperature"], st.session_state[f"{NAME}_k"]
    return dictionary.normalised(similar, _said("how"), temperature=temperature, k=k)


def _said(name: str) -> str:
    return str(st.session_state[f"{NAME}_{name}"])


def _controls() -> None:
    left, right = st.columns([2, 5], gap="medium")
    with left:
        st.text_area(
            "Keys and values, one “key: value” a line",
            key=f"{NAME}_pairs",
            height=190,
            persist_state="session",
        )
    with right:
        st.text_input(
            "Query",
            key=f"{NAME}_query",
            max_chars=LONGEST,
            persist_state="session",
            live=True,
            width=240,
        )
        told = "How alike the query and a key are"
        controls.choice(NAME, "similarity", "Similarity", SIMILARITIES, told)
        if _said("similarity") == "given":
            st.text_input(
                "Similarities, one for each key", key=f"{NAME}_given", persist_state="session"
            )
        controls.choice(NAME, "how", "Normalisation", HOW, "How similarities become weights")
        _knobs(_said("how"))


def _knobs(how: str) -> None:
    if how == "softmax":
        st.slider(
            "Temperature",
            min_value=0.05,
            max_value=5.0,
            step=0.05,
            key=f"{NAME}_temperature",
            persist_state="session",
            help="Similarities are divided by it: small makes the best win, large makes all equal",
            width=260,
        )
    if how == "top-k":
        controls.slider(NAME, "k", "k", (1, MOST), "How many keys count")


def _answer(at: int) -> None:
    found = entries(_said("pairs"))
    query = _said("query").strip()
    if not 1 <= len(query) <= LONGEST:
        raise ValueError(f"expected a query of 1 to {LONGEST} letters, received {len(query)}")
    similar = similarities(_said("similarity"), query, found.keys, _said("given"))
    refused = None
    try:
        weighed = weights(similar)
    except ValueError as error:
        refused, at = error, min(at, 1)
        weighed = similar
    _table(found, query, similar, weighed, at)
    if refused is not None:
        shared.error_line(refused)
        return
    if at > 1:
        _sum(found, weighed, at)
    if at == len(STEPS) - 1:
        _fixed(found, query)


def _table(found: Entries, query: str, similar: "Tensor", weighed: "Tensor", at: int) -> None:
    temperature = st.session_state[f"{NAME}_temperature"] if _said("how") == "softmax" else None
    by_letters = _said("similarity") == "edit"
    cols = columns(found, query, similar, weighed, by_letters=by_letters, temperature=temperature)
    shown = [each for each in cols if each.step <= at]
    rows = [list(row) for row in zip(*(each.cells for each in shown), strict=True)]
    if at == len(STEPS) - 1:
        rows.append([each.total for each in shown])
    count = tables.counted(len(found.keys), "key")
    title = f"The dictionary, asked for “{plain(query)}”"
    parts = [tables.table(title, [each.title for each in shown], rows)]
    if at > 1:
        pairs = list(zip(found.keys, weighed.tolist(), strict=True))
        parts.append(tables.bars("Weights α(q, k)", pairs, full=1.0))
    wide = "1 number" if found.heights is not None else "a word"
    frame.show(tables.row(*parts))
    frame.shapes(
        ("similarities", f"1 query × {count}"),
        ("weights", f"1 query × {count}"),
        ("values", f"{count} × {wide}"),
        ("answer", f"1 query × {wide}"),
    )


def _sum(found: Entries, weighed: "Tensor", at: int) -> None:
    from models.lessons import dictionary

    total, case = float(weighed.sum()), dictionary.case(weighed)
    said = [("Weights sum to", number(total)), ("Case", f"**{case}**")]
    if at == len(STEPS) - 1:
        said.insert(1, ("Answer", f"**{plain(answer(found, weighed))}**"))
    frame.show(tables.facts(*said))
    frame.text(_told(case, numbers=found.heights is not None))
    if found.heights is None and at == len(STEPS) - 1:
        mixed = dictionary.shares(weighed, found.values)
        frame.show(tables.bars("What each value gets", list(mixed.items())))
        frame.text(dictionary_texts.WORDS)


def _told(case: str, *, numbers: bool) -> str:
    """What it means that the weights are of this case."""
    told = [dictionary_texts.CASES[case]]
    if case == "average pooling":
        unasked = _said("how") == "average"
        told.append(dictionary_texts.UNASKED if unasked else dictionary_texts.EQUAL)
    if numbers and case in dictionary_texts.ANSWERS:
        told.append(dictionary_texts.ANSWERS[case])
    return " ".join(told)


def _fixed(found: Entries, query: str) -> None:
    """Every key asked as a query: attention answers each, one fixed vector all the same."""
    from models.lessons import dictionary

    frame.heading("Against one fixed context vector")
    frame.text(dictionary_texts.FIXED)
    if _said("similarity") == "given":
        frame.text(dictionary_texts.GIVEN)
        return
    rows = []
    for asked in dict.fromkeys([query, *found.keys]):
        similar = similarities(_said("similarity"), asked, found.keys, "")
        try:
            said = answer(found, weights(similar))
        except ValueError:
            said = "refused"
        rows.append([asked, said, answer(found, dictionary.normalised(similar, "average"))])
    frame.show(tables.table("Answers", ["Query", "Attention", "One fixed vector"], rows, marked=0))


def _code() -> None:
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
    frame.code(NAME, *kinds[_said("similarity")], *rest)
