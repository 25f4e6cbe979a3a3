"""The user's text on its way to a model: cleaned, cut to the limit, with notes on what was done."""

import re
import unicodedata

from viz.pages import shared
from viz.pages.shared import Choice


def readable(choice: Choice, device: str, text: str) -> tuple[str, list[str]]:
    """The text that the model will read, and one line for each thing a reader should know of it.

    A text over the model's limit is cut at a whole word.
    """
    from models.text import clean, fit

    notes = []
    text, removed = clean(text)
    if removed:
        notes.append(f"{removed} control characters were left out: no model can read them.")
    if not text.strip():
        return "", notes
    reader = shared.tokenizer(choice, device)
    tokens = reader.encode(text)
    limit = shared.opened(choice, device).limit
    if len(tokens) > limit:
        notes.append(
            f"The text has {len(tokens):,} tokens and the model reads at most {limit:,}: only its"
            " beginning is shown."
        )
        text = fit(text, reader, limit)
        tokens = reader.encode(text)
    return text, notes + remarks(tokens.labels)


def numbers_in(text: str) -> list[int]:
    """Token ids as somebody wrote them; ValueError for anything but whole numbers."""
    words = re.findall(r"[^\s,;]+", text)
    if not words or not all(word.isascii() and word.isdigit() and len(word) < 9 for word in words):
        raise ValueError(f"token ids: expected numbers such as 1 5 9 2, received “{text[:40]}”")
    return [int(word) for word in words]


def visible(label: str) -> str:
    """A token's label; white space alone gets a sign that can be seen."""
    return label if label.strip() else "␣" * len(label)


def remarks(labels: tuple[str, ...]) -> list[str]:
    """What a reader could stumble over: unknown pieces, and order in right-to-left text."""
    found = []
    unknown = [label.removesuffix(" [UNK]") for label in labels if label.endswith(" [UNK]")]
    if unknown:
        named = ", ".join(f"“{piece[:20]}”" for piece in list(dict.fromkeys(unknown))[:5])
        found.append(
            f"The model has no word piece for {named}: it reads [UNK] there, the same for all of"
            " them."
        )
    if any(unicodedata.bidirectional(c) in ("R", "AL") for label in labels for c in label):
        found.append(
            "Right-to-left text: tokens stand in the order they are read, the first one first."
        )
    return found
