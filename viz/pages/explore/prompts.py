"""A list of prompts: each line of the text, or each row of a CSV or JSONL column, is one.

They are shown one at a time, or as the mean of their weights.
"""

import csv
import io
import json
from collections.abc import Mapping

import streamlit as st

from models.text import clean
from viz.pages import shared
from viz.pages.explore.names import PAGE
from viz.pages.state import params as link
from viz.pages.state import session
from viz.pages.widgets import controls

ONE, EACH, MEAN = "one", "each", "mean"
MOST = 100  # prompts
PARAMS = (
    link.choice("prompts", ONE, (ONE, EACH, MEAN)),
    link.number("prompt", 1, 1, MOST),
    link.text("column", ""),
)
HELP = (
    "Several lines are one text, or a prompt each, shown one at a time. The mean is that of the"
    " weights of each head, over prompts with the same number of tokens"
)


def choose() -> None:
    """Draws the controls; nothing for a text of one line."""
    columns, count = columns_of(session.get(PAGE, "input")), len(listed())
    if count < 2 and not columns:
        return
    titles = {ONE: "This text", EACH: f"{count} prompts", MEAN: "Their mean"}
    controls.choice(PAGE, "prompts", "Prompts", titles, HELP, collapsed=True)
    if session.get(PAGE, "prompts") == ONE:
        return
    if columns:
        if session.get(PAGE, "column") not in columns:
            session.edit(PAGE, {"column": ""})
        titles = {"": "Every line"} | {name: f"Column: {name}" for name in columns}
        controls.select(PAGE, "column", "Prompts are", titles, "", collapsed=True)
    if is_list() and not is_mean():
        _steps()
    if len(_all()) > MOST:
        shared.notice(f"{len(_all()):,} prompts: only the first {MOST} are listed.")


def _steps() -> None:
    """Steps from one prompt to the next, around the ends."""
    key = f"{PAGE}_prompt"
    with st.container(
        key=key, horizontal=True, vertical_alignment="center", gap="xsmall", width="content"
    ):
        controls.button("‹", f"{PAGE}_prompt_before", _go, -1, help="The prompt before")
        st.markdown(f"{place() + 1} of {len(listed())}", width="content")
        controls.button("›", f"{PAGE}_prompt_after", _go, 1, help="The next prompt")


def _go(step: int) -> None:
    session.fold(PAGE)
    session.edit(PAGE, {"prompt": (place() + step) % max(len(listed()), 1) + 1})


def place() -> int:
    """Index of the prompt that is shown."""
    return min(session.get(PAGE, "prompt"), max(len(listed()), 1)) - 1


def is_list() -> bool:
    """Whether the text is a list of prompts."""
    return session.get(PAGE, "prompts") != ONE and len(listed()) > 1


def is_mean() -> bool:
    """Whether the mean over the list is shown."""
    return session.get(PAGE, "prompts") == MEAN and is_list()


def chosen() -> str:
    """The text that is shown: the whole input, or one prompt of the list."""
    return listed()[place()] if is_list() else session.get(PAGE, "input")


def listed() -> list[str]:
    """The prompts of the input, at most `MOST`."""
    return _all()[:MOST]


def _all() -> list[str]:
    text, column = session.get(PAGE, "input"), session.get(PAGE, "column")
    prompts = columns_of(text).get(column) or clean(text)[0].splitlines()
    return [each for each in map(str.strip, prompts) if each]


def columns_of(text: str) -> Mapping[str, list[str]]:
    """The columns of a text in JSONL or CSV by name, those of JSONL that hold text; {} of another.

    A CSV has a header of different names, and at least one more row; all rows have as many cells.
    """
    text = text.strip()
    if "\n" not in text and not text.startswith("{"):
        return {}
    return _of_jsonl(text) if text.startswith("{") else _of_csv(text)


def _of_jsonl(text: str) -> Mapping[str, list[str]]:
    try:
        rows = [json.loads(line) for line in text.splitlines() if line.strip()]
    except (ValueError, RecursionError):
        return {}
    if not all(isinstance(row, dict) for row in rows):
        return {}
    names = [name for name in rows[0] if all(isinstance(row.get(name), str) for row in rows)]
    return {name: [row[name] for row in rows] for name in names}


def _of_csv(text: str) -> Mapping[str, list[str]]:
    try:
        header, *rows = [row for row in csv.reader(io.StringIO(text), strict=True) if row]
    except (ValueError, csv.Error):
        return {}
    different = len({*header}) == len(header) > 1 and all(header)
    if not (different and rows) or any(len(row) != len(header) for row in rows):
        return {}
    return dict(zip(header, map(list, zip(*rows, strict=True)), strict=True))
