"""Tokens and embeddings: a text as words, pieces and bytes, and the rows that ids select."""

from typing import TYPE_CHECKING

import streamlit as st

from viz.pages import shared
from viz.pages.lessons import frame, tables
from viz.pages.lessons.markup import plain
from viz.pages.lessons.tables import counted, number
from viz.pages.lessons.tokens import texts
from viz.pages.lessons.tokens.story import STORY
from viz.pages.state import params as link
from viz.pages.state import session
from viz.pages.widgets import controls

if TYPE_CHECKING:
    from torch import Tensor

    from models.text import Tokens

NAME = "tokens"
MOST = 24  # tokens
FEATURES = 6  # shown of each row
NEAREST = 6
MINILM = shared.Choice("minilm")
PARAMS = (
    link.text("text", "The bank reopened unexpectedly."),
    link.number("token", 2, 0, MOST - 1),
)


def page() -> None:
    """Draws the lesson."""
    with frame.lesson(NAME, PARAMS):
        frame.story(NAME, STORY)
        with frame.details(NAME, PARAMS):
            _details()
        text = session.get(NAME, "text")
        frame.explore("See these tokens attend to each other", model="minilm", input=text)
        from models.lessons import tokens

        frame.code(NAME, tokens.words, tokens.utf8, tokens.rows, tokens.selected, tokens.nearest)
        frame.takeaways(*texts.TAKEAWAYS)


def _details() -> None:
    frame.text(*texts.TEXT)
    frame.formula(r"x_t = E_{\text{id}_t} = \operatorname{onehot}(\text{id}_t)\, E")
    frame.heading("One text, cut in three ways")
    text = controls.text_input(NAME, "text", "A text", width=420, max_chars=120)
    try:
        _lesson(text)
    except ValueError as error:
        shared.error_line(error)
    frame.tries(NAME, PARAMS, *texts.TRIES)


def _lesson(text: str) -> None:
    if not text.strip():
        raise ValueError("expected a text, received none")
    found = shared.tokenizer(MINILM, "cpu").encode(text)
    frame.text(*texts.CUTS)
    frame.show(_cuts(text, found))
    if len(found) > MOST:
        raise ValueError(f"expected at most {MOST} tokens, received {len(found)}: shorten the text")
    table = _table()
    frame.heading("From ids to vectors")
    frame.text(*texts.ROWS)
    frame.show(_rows(found, table))
    frame.text(texts.ONE_HOT)
    frame.shapes(*_shapes(found, table))
    frame.heading("Neighbours in the table")
    frame.text(*texts.NEIGHBOURS)
    _neighbours(found, table)


def _cuts(text: str, found: "Tokens") -> str:
    """Words, pieces and bytes of the text."""
    from models.lessons import tokens

    words, codes = tokens.words(text), tokens.utf8(text)
    cuts = {
        f"{counted(len(words), 'word')}, of a vocabulary of all words": words,
        f"{counted(len(found), 'piece')}, of a vocabulary of 30,522": found.labels,
        f"{counted(len(codes), 'byte')}, of a vocabulary of {tokens.BYTES}": map(str, codes),
    }
    lines = (f"**{name}**: {' · '.join(map(plain, parts))}" for name, parts in cuts.items())
    return tables.lines(*lines)


def _rows(found: "Tokens", table: "Tensor") -> str:
    import torch

    from models.lessons import tokens

    vectors = tokens.rows(table, torch.tensor(found.ids))
    return tables.matrix(
        vectors[:, :FEATURES].tolist(),
        title="Rows of the table, by id",
        rows=[f"{label}: {id}" for label, id in zip(found.labels, found.ids, strict=True)],
        cols=[f"feature {n}" for n in range(FEATURES)],
        kind="signed",
        digits=3,
        axes=("token", "feature shown"),
    )


def _shapes(found: "Tokens", table: "Tensor") -> tuple[tuple[str, str], ...]:
    import torch

    from models.lessons import tokens

    ids = torch.tensor(found.ids)
    apart = (tokens.rows(table, ids) - tokens.selected(table, ids)).abs().max().item()
    count, dim = table.shape
    return (
        ("table", f"{count:,} × {dim} = {table.numel():,} parameters"),
        ("this text", f"{len(ids)} tokens × {dim} features"),
        ("rows against one-hot products, largest difference", f"{apart:.1e}"),
    )


def _neighbours(found: "Tokens", table: "Tensor") -> None:
    """The most similar rows of the table for one token."""
    from models.lessons import tokens

    help = "Position of the token whose neighbours are shown"
    at = controls.slider(NAME, "token", "Token", (0, MOST - 1), help)
    at = min(at, len(found) - 1)
    similar, ids = tokens.nearest(table, found.ids[at], NEAREST)
    names = _names()
    pairs = zip(ids.tolist(), similar.tolist(), strict=True)
    frame.show(
        tables.bars(
            f"Nearest to “{plain(found.labels[at])}” (position {at}), by cosine",
            [(names[id], value) for id, value in pairs],
            full=1.0,
            note=f"Its row begins with {number(table[found.ids[at], 0].item(), 3)}.",
        )
    )


def _table() -> "Tensor":
    """MiniLM's table of token embeddings."""
    return shared.opened(MINILM, "cpu").network.get_parameter("tokens.weight").detach()


@st.cache_resource(show_spinner=False)
def _names() -> dict[int, str]:
    """The token of each id."""
    from models.text import FileTokenizer

    reader = shared.tokenizer(MINILM, "cpu")
    if not isinstance(reader, FileTokenizer):
        raise ValueError("MiniLM's tokenizer has no file")
    return reader.words
