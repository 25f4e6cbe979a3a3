"""Ids that a model wrote, as the text they stand for."""

from collections.abc import Callable, Mapping, Sequence

from models.text import Tokens

LONGEST = 8  # tokens that one character can be cut into
NOT_WHOLE = "\ufffd"


def spelled(
    ids: Sequence[int], decode: Callable[[list[int]], str], names: Mapping[int, str]
) -> Tokens:
    """Each token by its text; pieces of one character are counted: 🙂 1/4.

    Args:
        ids: of the tokens.
        decode: their text, with U+FFFD at bytes that are no whole character.
        names: of special tokens.
    """
    labels: list[str] = []
    while len(labels) < len(ids):
        start = len(labels)
        if ids[start] in names:
            labels.append(names[ids[start]])
            continue
        count = _pieces(ids[start : start + LONGEST], decode)
        text = decode(list(ids[start : start + count])) or str(ids[start])
        parts = [text] if count == 1 else [f"{text} {i + 1}/{count}" for i in range(count)]
        labels += parts
    found = Tokens.of_ids(ids, names)
    return Tokens(found.ids, tuple(labels), found.special, found.segments, found.spans)


def _pieces(ids: Sequence[int], decode: Callable[[list[int]], str]) -> int:
    """How many of these tokens, from the first on, make whole characters."""
    for count in range(1, len(ids) + 1):
        if NOT_WHOLE not in decode(list(ids[:count])):
            return count
    return 1
