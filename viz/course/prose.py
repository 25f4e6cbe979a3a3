"""The markup of the course's texts, as plain data for the browser and as HTML.

**bold**, *italic*, `code`, x_{sub} and x^{super}; `[[softmax]]` and `[[weights|attention weights]]`
are terms of the glossary. For the browser besides: `@query(q_{i})` is a term in the colour of the
query (also key, value, weight and output), and `{weights.2:.0%}` is a number of the figure, at a
path, in a format of Python's; of a list all are written, with `{keys&weights:.2f}` beside those of
another. Everything else is literal.
"""

import re
from html import escape
from typing import Any

from viz.course.glossary import TERMS as GLOSSARY
from viz.theme import TERMS

Part = str | dict[str, Any]
_NAMES = "|".join(TERMS["light"])
_MARKS = re.compile(
    rf"@(?P<term>{_NAMES})\((?P<shown>(?:[^()]|\([^()]*\))*)\)"
    r"|\{(?P<path>[a-z_]\w*(?:[.&]\w+)*):(?P<format>[^{}]*)\}"
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


def html(text: str) -> str:
    """A paragraph without numbers as HTML; a term's meaning appears on hover and on focus."""
    return "".join(map(_html, parts(text)))


def _html(part: Part) -> str:
    if isinstance(part, str):
        return escape(part, quote=False)
    inner = "".join(map(_html, part["parts"]))
    if part["tag"] != "glossary":
        return f"<{part['tag']}>{inner}</{part['tag']}>"
    meaning, words = escape(part["meaning"]), re.sub("<[^>]+>", "", inner)
    return (
        f'<span class="lesson-term" tabindex="0" role="note" data-meaning="{meaning}"'
        f' aria-label="{words}: {meaning}">{inner}</span>'
    )
