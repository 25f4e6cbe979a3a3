"""Text with terms that explain themselves: `[[softmax]]`, `[[weights|attention weights]]`.

Besides terms there is **bold**, *italic*, `code`, x_{sub} and x^{super}. All else stays as it is
written, letter by letter, so that text of a reader's own can stand in it by way of `plain`.
"""

import re
from html import escape

from viz.pages.lessons.terms import TERMS

_MARKS = re.compile(
    r"\[\[(?P<term>[^\]|]+)(?:\|(?P<shown>[^\]]+))?\]\]"
    r"|\*\*(?P<bold>.+?)\*\*|\*(?P<italic>[^*\s][^*]*?)\*|`(?P<code>[^`]+)`"
    r"|_\{(?P<sub>[^}]+)\}|\^\{(?P<sup>[^}]+)\}"
)
_HELD = {ord(mark): chr(0xE000 + n) for n, mark in enumerate("[]*`_^{}")}  # private use
_FREED = {ord(held): chr(mark) for mark, held in _HELD.items()}
_TAGS = {"bold": "b", "italic": "i", "code": "code", "sub": "sub", "sup": "sup"}


def plain(text: str) -> str:
    """A text of a reader's own, to stand in a text with marks: none of its signs is one."""
    return text.translate(_HELD)


def html(text: str) -> str:
    """The text as HTML.

    Raises:
        ValueError: for a term that the glossary lacks.
    """
    parts, end = [], 0
    for found in _MARKS.finditer(text):
        parts.append(escape(text[end : found.start()], quote=False))
        parts.append(_marked(found))
        end = found.end()
    return "".join([*parts, escape(text[end:], quote=False)]).translate(_FREED)


def term(name: str, shown: str = "") -> str:
    """A term as HTML: what it means appears under the pointer, and on the keyboard's focus.

    Raises:
        ValueError: for a term that the glossary lacks.
    """
    meaning = TERMS.get(name.lower())
    if meaning is None:
        raise ValueError(f"term: expected one of the glossary, received {name!r}")
    told = escape(meaning)
    return (
        f'<span class="lesson-term" tabindex="0" role="note" data-told="{told}"'
        f' aria-label="{escape(shown or name)}: {told}">{html(shown or name)}</span>'
    )


def _marked(found: re.Match[str]) -> str:
    kind = found.lastgroup or ""
    if found["term"]:
        return term(found["term"], found["shown"] or "")
    inner = escape(found[kind], quote=False) if kind == "code" else html(found[kind])
    return f"<{_TAGS[kind]}>{inner}</{_TAGS[kind]}>"
