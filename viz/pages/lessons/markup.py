"""Markup with glossary terms: `[[softmax]]`, `[[weights|attention weights]]`.

It also has **bold**, *italic*, `code`, x_{sub} and x^{super}. Everything else is literal. User text
must be escaped with `plain`.
"""

import re
from html import escape

from viz.course.glossary import TERMS

_MARKS = re.compile(
    r"\[\[(?P<term>[^\]|]+)(?:\|(?P<shown>[^\]]+))?\]\]"
    r"|\*\*(?P<bold>.+?)\*\*|\*(?P<italic>[^*\s][^*]*?)\*|`(?P<code>[^`]+)`"
    r"|_\{(?P<sub>[^}]+)\}|\^\{(?P<sup>[^}]+)\}"
)
_HIDDEN = {ord(mark): chr(0xE000 + n) for n, mark in enumerate("[]*`_^{}")}  # private use
_UNHIDDEN = {ord(hidden): chr(mark) for mark, hidden in _HIDDEN.items()}
_TAGS = {"bold": "b", "italic": "i", "code": "code", "sub": "sub", "sup": "sup"}


def plain(text: str) -> str:
    """User text escaped for use in markup."""
    return text.translate(_HIDDEN)


def html(text: str) -> str:
    """The text as HTML.

    Raises:
        ValueError: for a term that the glossary lacks.
    """
    parts, end = [], 0
    for match in _MARKS.finditer(text):
        parts.append(escape(text[end : match.start()], quote=False))
        parts.append(_marked(match))
        end = match.end()
    return "".join([*parts, escape(text[end:], quote=False)]).translate(_UNHIDDEN)


def term(name: str, words: str = "") -> str:
    """A glossary term as HTML; its meaning appears on hover and on keyboard focus.

    Raises:
        ValueError: for a term that the glossary lacks.
    """
    meaning = TERMS.get(name.lower())
    if meaning is None:
        raise ValueError(f"term: expected one of the glossary, received {name!r}")
    meaning = escape(meaning)
    return (
        f'<span class="lesson-term" tabindex="0" role="note" data-meaning="{meaning}"'
        f' aria-label="{escape(words or name)}: {meaning}">{html(words or name)}</span>'
    )


def _marked(match: re.Match[str]) -> str:
    kind = match.lastgroup or ""
    if match["term"]:
        return term(match["term"], match["shown"] or "")
    inner = escape(match[kind], quote=False) if kind == "code" else html(match[kind])
    return f"<{_TAGS[kind]}>{inner}</{_TAGS[kind]}>"
