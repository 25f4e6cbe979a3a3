"""The Markdown of the course, and the markup of its texts, as data for the browser and as HTML.

**bold**, *italic*, `code`, x_{sub} and x^{super}; `[[softmax]]` and `[[weights|attention weights]]`
are terms of the glossary. For the browser besides: `@query(q_{i})` is a term in the colour of the
query (also key, value, weight and output), and `{weights.2:.0%}` is a number of the figure or an
input, at a path, in a format of Python's; of a list all are written, with `{keys&weights:.2f}`
beside those of another. Everything else is literal.
"""

import re
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode as Node

from viz.theme import TERMS

Part = str | dict[str, Any]
_MARKDOWN = MarkdownIt("zero").enable(["heading", "fence", "list", "blockquote"])
_NAMES = "|".join(TERMS["light"])
_MARKS = re.compile(
    rf"@(?P<term>{_NAMES})\((?P<shown>(?:[^()]|\([^()]*\))*)\)"
    r"|\{(?P<path>[a-z_]\w*(?:[.&]\w+)*):(?P<format>[^{}]*)\}"
    r"|\[\[(?P<entry>[^\]|]+)(?:\|(?P<entry_shown>[^\]]+))?\]\]"
    r"|\*\*(?P<b>.+?)\*\*|\*(?P<i>[^*\s][^*]*?)\*|`(?P<code>[^`]+)`"
    r"|_\{(?P<sub>[^}]+)\}|\^\{(?P<sup>[^}]+)\}"
)
_TAGS = ("b", "i", "code", "sub", "sup")


def blocks(markdown: str) -> list[Node]:
    """The blocks of a text."""
    return Node(_MARKDOWN.parse(markdown)).children


def sections(nodes: Sequence[Node], tag: str) -> list[tuple[str, list[Node]]]:
    """The nodes below each heading of a level; first those above all of them."""
    chapters: list[tuple[str, list[Node]]] = [("", [])]
    for node in nodes:
        if node.type == "heading" and node.tag == tag:
            chapters.append((text_of(node), []))
        else:
            chapters[-1][1].append(node)
    return chapters


def text_of(node: Node) -> str:
    """The text of a paragraph, heading or item, in one line."""
    text = node.children[0]
    return text_of(text) if text.type == "paragraph" else text.content.replace("\n", " ")


def _glossary() -> dict[str, str]:
    _, terms = blocks(Path(__file__).with_name("glossary.md").read_text("utf-8"))
    return dict(text_of(item).split(": ", 1) for item in terms.children)


GLOSSARY = _glossary()  # a definition of every term in one sentence


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


def html(text: str | list[Part]) -> str:
    """A paragraph without numbers as HTML; a term's meaning appears on hover and on focus."""
    return "".join(map(_html, parts(text) if isinstance(text, str) else text))


def _html(part: Part) -> str:
    if isinstance(part, str):
        return escape(part, quote=False)
    inner = html(part["parts"])
    if part["tag"] != "glossary":
        return f"<{part['tag']}>{inner}</{part['tag']}>"
    meaning, words = escape(part["meaning"]), re.sub("<[^>]+>", "", inner)
    return (
        f'<span class="lesson-term" tabindex="0" role="note" data-meaning="{meaning}"'
        f' aria-label="{words}: {meaning}">{inner}</span>'
    )


def number(value: Any, format_: str = ".4f") -> str:
    """A number as text, with a typographic minus sign; a text as it is."""
    text = format(value, format_)
    if isinstance(value, str):
        return text
    return (text.lstrip("-") if float(text.replace(",", "")) == 0 else text).replace("-", "−")
