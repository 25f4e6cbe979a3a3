"""Toggles for whole words and special tokens."""

from collections.abc import Collection
from typing import Literal

import streamlit as st

from models.catalogue import entry, folder
from models.text import FileTokenizer, Tokenizer
from viz.pages.shared import BUILT, plain
from viz.pages.state import params as link
from viz.pages.state import session
from viz.pages.widgets import controls

Special = Literal["shown", "hidden", "renormalised"]
SHOWN, HIDDEN = "shown", "hidden"
PARAMS = (
    link.choice("words", "no", ("no", "yes")),
    link.choice("special", SHOWN, (SHOWN, HIDDEN, "renormalised")),
    link.choice("sums", "no", ("no", "yes")),
)
BEGIN = "<begin>"  # in front of what a decoder has written
MOST = 24  # characters of names in a label


def choose(page: str, names: Collection[str]) -> None:
    """Draws the toggles.

    Args:
        page: of the settings.
        names: of the special tokens the model puts around a text; without any, none can be hidden.
    """
    if session.get(page, "special") == "renormalised":  # in links, once
        session.edit(page, {"special": HIDDEN, "sums": "yes"})
    help = (
        "For a word of several tokens, attention to its tokens is summed and attention from its"
        " tokens is averaged"
    )
    controls.toggle(page, "words", "Whole words", help)
    if not names:
        return
    help = "Leaves them out of every picture. Rows then sum to the weight on the remaining tokens"
    if controls.toggle(page, "special", f"Hide {_listed(names)}", help, (SHOWN, HIDDEN)):
        help = "Divides each row by its sum: the shares of what is left"
        controls.toggle(page, "sums", "Rows sum to 1", help)


def chosen(page: str, names: Collection[str]) -> tuple[bool, Special]:
    """Whether to join words, and what to do with special tokens."""
    settings = session.current(page).settings
    words = settings["words"] == "yes"
    if settings["special"] == SHOWN or not names:
        return words, SHOWN
    return words, "renormalised" if settings["sums"] == "yes" else HIDDEN


@st.cache_resource(max_entries=32, show_spinner=False)
def of_catalogue(model: str) -> tuple[str, ...]:
    """The special tokens around a text of a catalogue model, read without its weights."""
    if model == BUILT:
        return ()
    try:
        reader = FileTokenizer(folder(entry(model)) / "tokenizer.json")
    except ValueError:  # opening the model will say what is missing
        return ()
    return names(reader, target=entry(model).kind == "seq2seq")


def names(reader: Tokenizer | None, *, target: bool) -> tuple[str, ...]:
    """The special tokens around a text, and the one in front of a target."""
    found = None if reader is None else reader.encode("a")
    pairs = zip(found.labels, found.special, strict=True) if found else ()
    return (*(label for label, special in pairs if special), *([BEGIN] if target else []))


def _listed(names: Collection[str]) -> str:
    listed = "/".join(names)
    return plain(listed) if len(listed) <= MOST else "special tokens"
