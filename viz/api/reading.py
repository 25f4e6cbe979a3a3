"""Text preprocessing: cleaning and truncation of the user's text, with notes on both."""

import re
import unicodedata
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from models.text import Tokenizer


def readable(text: str, opened: "Callable[[], tuple[Tokenizer, int]]") -> tuple[str, list[str]]:
    """The preprocessed text, and notes on what was changed.

    A text over the model's limit is truncated at a word boundary.

    Args:
        text: of the user.
        opened: returns the tokenizer and the most tokens the model takes; called unless the text is
            empty.
    """
    from models.text import clean, fit

    notes = []
    text, removed = clean(text)
    if removed:
        notes.append(f"{removed} control characters were removed: no model can read them.")
    if not text.strip():
        return "", notes
    reader, limit = opened()
    tokens = reader.encode(text)
    if len(tokens) > limit:
        notes.append(
            f"The text has {len(tokens):,} tokens and the model takes at most {limit:,}: only the"
            " beginning is shown."
        )
        text = fit(text, reader, limit)
        tokens = reader.encode(text)
    return text, notes + remarks(tokens.labels)


def numbers_in(text: str) -> list[int]:
    """Parses typed token ids; ValueError for anything but integers."""
    words = re.findall(r"[^\s,;]+", text)
    if not words or not all(word.isascii() and word.isdigit() and len(word) < 9 for word in words):
        raise ValueError(f"token ids: expected numbers such as 1 5 9 2, received “{text[:40]}”")
    return [int(word) for word in words]


def remarks(labels: tuple[str, ...]) -> list[str]:
    """Notes on unknown pieces and right-to-left text."""
    notes = []
    unknown = [label.removesuffix(" [UNK]") for label in labels if label.endswith(" [UNK]")]
    if unknown:
        named = ", ".join(f"“{piece[:20]}”" for piece in list(dict.fromkeys(unknown))[:5])
        notes.append(
            f"The model’s vocabulary has no piece for {named}: all of them become the same [UNK]"
            " token."
        )
    if any(unicodedata.bidirectional(c) in ("R", "AL") for label in labels for c in label):
        notes.append("Right-to-left text: tokens are shown in reading order, the first one first.")
    return notes
