"""Paragraphs of a story as plain data for the browser.

The markup is that of `markup`, and besides: `@query(q_{i})` is a term in the colour of the query
(also key, value, weight and output), and `{weights.2:.0%}` is a number of the figure, at a path, in
a format of Python's. Everything else is literal.
"""

import re
from typing import Any

from viz.course.glossary import TERMS as GLOSSARY
from viz.theme import TERMS

Part = str | dict[str, Any]
_NAMES = "|".join(TERMS["light"])
_MARKS = re.compile(
    rf"@(?P<term>{_NAMES})\((?P<shown>(?:[^()]|\([^()]*\))*)\)"
    r"|\{(?P<path>[a-z_]\w*(?:\.\w+)*):(?P<format>[^{}]*)\}"
    r"|\[\[(?P<entry>[^\]|]+)(?:\|(?P<entry_shown>[^\]]+))?\]\]"
    r"|\*\*(?P<b>.+?)\*\*|\*(?P<i>[^*\s][^*]*?)\*|`(?P<code>[^`]+)`"
    r"|_\{(?P<sub>[^}]+)\}|\^\{(?P<sup>[^}]+)\}"
)
_TAGS = ("b", "i", "code", "sub", "sup")


def parts(text: str) -> list[Part]:
    """A paragraph as texts and marked parts, as `ProsePart` in types.d.ts defines them.

    Raises:
        ValueError: for a term that the glossary lacks.
    """
    pieces: list[Part] = []
    end = 0
    for mark in _MARKS.finditer(text):
        pieces += [text[end : mark.start()]] if mark.start() > end else []
        pieces.append(_part(mark))
        end = mark.end()
    return [*pieces, text[end:]] if end < len(text) else pieces


def paths(text: str) -> list[str]:
    """The paths of the numbers in a paragraph."""
    return [mark["path"] for mark in _MARKS.finditer(text) if mark["path"]]


def _part(mark: re.Match[str]) -> Part:
    if mark["term"]:
        return {"tag": "term", "term": mark["term"], "parts": parts(mark["shown"])}
    if mark["path"]:
        return {"tag": "number", "path": mark["path"], "format": mark["format"]}
    if mark["entry"]:
        meaning = GLOSSARY.get(mark["entry"].lower())
        if meaning is None:
            raise ValueError(f"glossary: expected one of its terms, received {mark['entry']!r}")
        entry = parts(mark["entry_shown"] or mark["entry"])
        return {"tag": "glossary", "meaning": meaning, "parts": entry}
    tag = next(tag for tag in _TAGS if mark[tag])
    return {"tag": tag, "parts": [mark[tag]] if tag == "code" else parts(mark[tag])}
