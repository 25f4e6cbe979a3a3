"""Text on paper: visible, within its width, in a font for every character where there is one.

Matplotlib joins Arabic letters and orders text that runs from right to left.
"""

import re
import unicodedata
from functools import cache, lru_cache

from matplotlib import font_manager
from matplotlib.textpath import text_to_path

FIRST, LAST = "DejaVu Sans", "Last Resort High-Efficiency"  # both come with matplotlib
GENERIC = "sans-serif"  # of a viewer of SVG without the first one
# Fonts of operating systems for what the first one lacks: East Asian scripts, Indic, emoji.
OTHERS = (
    *("Noto Sans CJK SC", "Noto Sans CJK JP", "WenQuanYi Zen Hei", "WenQuanYi Micro Hei"),
    *("Droid Sans Fallback", "Microsoft YaHei", "Yu Gothic", "Malgun Gothic", "PingFang SC"),
    *("Hiragino Sans GB", "Apple SD Gothic Neo", "STHeiti", "Arial Unicode MS"),
    *("Noto Sans Devanagari", "Noto Sans Thai", "Nirmala UI"),
    *("Noto Emoji", "Symbola", "Segoe UI Symbol", "Apple Symbols"),
)
UNIT = 100  # type size at which text is measured


def visible(label: str) -> str:
    """A label with every blank, line break and control character visible, as in the app."""
    text = clean(label)
    if not text:
        return "∅"
    return text.replace(" ", "␣") if not text.strip() else text


def clean(text: str) -> str:
    """Text that a file can hold: signs for control characters, and nothing that turns its order."""
    text = text.replace("\r\n", "\n").translate(_SIGNS)
    return "".join(each for each in text if each in JOINERS or unicodedata.category(each) != "Cf")


_SIGNS = {code: 0x2400 + code for code in range(32)}
_SIGNS |= {ord("\n"): ord("↵"), ord("\r"): ord("↵"), ord("\t"): ord("⇥"), 0x7F: 0x2421}
_SIGNS |= dict.fromkeys([*range(0xD800, 0xE000), 0xFFFE, 0xFFFF, *range(0x80, 0xA0)], 0xFFFD)
JOINERS = "\u200c\u200d"


@cache
def families() -> list[str]:
    """The fonts that are there, in the order in which they are asked for a character."""
    there = {font.name for font in font_manager.fontManager.ttflist}
    return [FIRST, *(name for name in OTHERS if name in there), GENERIC, LAST]


@lru_cache(4096)
def width(text: str, size: float) -> float:
    """The width of a line, in the unit of `size`."""
    font = font_manager.FontProperties(family=families(), size=UNIT)
    wide, _, _ = text_to_path.get_text_width_height_descent(text, font, False)
    return wide * size / UNIT


def fitted(text: str, size: float, most: float) -> str:
    """The text, cut off with an ellipsis where it would be wider than `most`."""
    if width(text, size) <= most:
        return text
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if width(text[:middle] + "…", size) <= most:
            low = middle
        else:
            high = middle - 1
    while low and unicodedata.combining(text[low]):
        low -= 1  # an accent stays with its letter
    return text[:low] + "…"


def wrapped(text: str, size: float, most: float) -> list[str]:
    """The text in lines no wider than `most`; words are cut only where they have to be."""
    lines: list[str] = []
    for word in re.findall(r"[^ \t\n]+", text):
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and width(longer, size) <= most:
            lines[-1] = longer
            continue
        while width(word, size) > most:
            part = fitted(word, size, most)[:-1] or word[0]
            lines.append(part)
            word = word[len(part) :]
        lines.append(word)
    return lines
