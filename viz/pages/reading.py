"""The user's text on its way to a model: cleaned, checked against the limit, and told about."""

import re
import unicodedata

import streamlit as st

from viz.pages import shared
from viz.pages.shared import Choice


def readable(page: str, choice: Choice, device: str, written: str) -> str | None:
    """The text that the model will read, or None if there is none; says what was done to it."""
    from models.text import clean, fit

    text, removed = clean(written)
    if removed:
        shared.notice(f"{removed} control characters were left out: no model can read them.")
    if not text.strip():
        shared.error_line("There is no text to read: type a sentence, or choose an example.")
        return None
    reader = shared.tokenizer(choice, device)
    tokens = reader.encode(text)
    limit = shared.opened(choice, device).limit
    if len(tokens) > limit:
        if not _cut(page, len(tokens), limit):
            return None
        text = fit(text, reader, limit)
        tokens = reader.encode(text)
    tell(tokens.labels)
    return text


def numbers_in(text: str) -> list[int]:
    """Token ids as somebody wrote them; ValueError for anything but whole numbers."""
    words = re.findall(r"[^\s,;]+", text)
    if not words or not all(word.isascii() and word.isdigit() and len(word) < 9 for word in words):
        raise ValueError(f"token ids: expected numbers such as 1 5 9 2, received “{text[:40]}”")
    return [int(word) for word in words]


def _cut(page: str, count: int, limit: int) -> bool:
    """Offers to read only the beginning; whether the user takes the offer."""
    cut = st.session_state[f"{page}_cut"] == "yes"
    if not cut:
        shared.error_line(
            f"This text has {count:,} tokens and the model reads at most {limit}: shorten it, or"
            " let only its beginning be read."
        )
    answer = st.segmented_control(
        "Read",
        options=["no", "yes"],
        format_func=lambda cut: f"Up to {limit} tokens" if cut == "yes" else "All of it",
        key=f"{page}_cut",
        required=True,
        persist_state="session",
    )
    return answer == "yes"


def visible(label: str) -> str:
    """A token's label; of white space alone nothing could be seen."""
    return label if label.strip() else "␣" * len(label)


def tell(labels: tuple[str, ...]) -> None:
    """What a reader could stumble over: unknown pieces, and order in right-to-left text."""
    unknown = [label.removesuffix(" [UNK]") for label in labels if label.endswith(" [UNK]")]
    if unknown:
        named = ", ".join(f"“{piece[:20]}”" for piece in list(dict.fromkeys(unknown))[:5])
        shared.notice(
            f"The model has no word piece for {named}: it reads [UNK] there, the same for all of"
            " them."
        )
    if any(unicodedata.bidirectional(c) in ("R", "AL") for label in labels for c in label):
        shared.notice(
            "Right-to-left text: tokens stand in the order they are read, the first one first."
        )
