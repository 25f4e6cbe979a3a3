"""Text as it is drawn: visible, in visual order, with a font for every character.

SVG viewers choose fonts, join Arabic letters and reorder right-to-left text themselves; PDF and PNG
need all three done beforehand.
"""

import os
import re
import sys
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import groupby
from pathlib import Path
from typing import Any

BUNDLED = Path(__file__).parent / "font" / "DejaVuSans.ttf"
FAMILIES = "'DejaVu Sans', Verdana, Arial, sans-serif"  # of SVG
# Fonts of operating systems for what the bundled one lacks: East Asian scripts, Indic, emoji.
OTHERS = (
    *("NotoSansCJK-Regular.ttc", "wqy-zenhei.ttc", "wqy-microhei.ttc", "DroidSansFallbackFull.ttf"),
    *("msyh.ttc", "YuGothR.ttc", "malgun.ttf", "Arial Unicode.ttf", "ArialUnicode.ttf"),
    *("PingFang.ttc", "Hiragino Sans GB.ttc", "AppleSDGothicNeo.ttc", "STHeiti Light.ttc"),
    *("NotoSansDevanagari-Regular.ttf", "NotoSansThai-Regular.ttf", "Nirmala.ttf", "Nirmala.ttc"),
    *("NotoEmoji-Regular.ttf", "Symbola.ttf", "seguisym.ttf", "seguiemj.ttf", "Apple Symbols.ttf"),
)
TATWEEL, ZERO_WIDTH_JOINER = "\u0640", "\u200d"


@dataclass(frozen=True, eq=False)
class Face:
    """A font.

    Attributes:
        path: its file.
        index: its place in a collection of fonts.
        advances: width of each character it has, in units of the type size.
    """

    path: Path
    index: int
    advances: dict[str, float]


def visible(label: str) -> str:
    """A label with every blank, line break and control character visible, as in the app."""
    text = label.replace("\r\n", "\n").translate(_SIGNS)
    if not text:
        return "∅"
    return text.replace(" ", "␣") if not text.strip() else text


_SIGNS = {code: 0x2400 + code for code in range(32)}
_SIGNS |= {ord("\n"): ord("↵"), ord("\r"): ord("↵"), ord("\t"): ord("⇥"), 0x7F: 0x2421}
_SIGNS |= dict.fromkeys([*range(0xD800, 0xE000), 0xFFFE, 0xFFFF, *range(0x80, 0xA0)], 0xFFFD)


def width(text: str, size: float) -> float:
    """The width of a line, in the unit of `size`."""
    return size * sum(face.advances[each] for face, run in runs(text) for each in run)


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


@lru_cache(4096)
def runs(text: str) -> tuple[tuple[Face, str], ...]:
    """The text in visual order, from left to right, in pieces of one font each.

    A character that no font has becomes its code point in brackets.
    """
    placed = [pair for letter in _visual(text) for pair in _placed(letter)]
    return tuple(
        (face, "".join(letter for _, letter in pairs))
        for face, pairs in groupby(placed, key=lambda pair: pair[0])
    )


def code_points(text: str) -> bool:
    """Whether a character of the text has no font here, so that its code point is drawn."""
    return any(_face(letter) is None for letter in _visual(text))


def _placed(letter: str) -> list[tuple[Face, str]]:
    face = _face(letter)
    if face is not None:
        return [(face, letter)]
    return [(_bundled(), each) for each in f"[U+{ord(letter):04X}]"]


@cache
def _face(letter: str) -> Face | None:
    if letter in _bundled().advances:
        return _bundled()
    return next((face for face in _others() if letter in face.advances), None)


@cache
def _bundled() -> Face:
    return _open(BUNDLED)[0]


@cache
def _others() -> tuple[Face, ...]:
    """The fonts of this machine that complete the bundled one."""
    files = {path.name: path for folder in _folders() for path in sorted(folder.rglob("*.tt[fc]"))}
    return tuple(face for name in OTHERS if name in files for face in _open(files[name]))


def _folders() -> Iterator[Path]:
    home = Path.home()
    if sys.platform == "win32":
        yield Path(os.environ.get("WINDIR", "C:")) / "Fonts"
    elif sys.platform == "darwin":
        yield from (Path("/Library/Fonts"), Path("/System/Library/Fonts"), home / "Library/Fonts")
    else:
        shared = Path("/", "usr")
        yield from (shared / "share/fonts", shared / "local/share/fonts")
        yield from (home / ".local/share/fonts", home / ".fonts")


def _open(path: Path) -> list[Face]:
    """The font of a file, or the first of a collection; none if it cannot be read."""
    from fontTools.ttLib import TTFont, TTLibError

    try:
        with TTFont(path, fontNumber=0, lazy=True) as font:
            head: Any = font["head"]
            advance, unit = font["hmtx"].metrics, head.unitsPerEm
            names = font.getBestCmap() or {}
            return [
                Face(path, 0, {chr(code): advance[name][0] / unit for code, name in names.items()})
            ]
    except (OSError, TTLibError, KeyError):
        return []


# ---- visual order


def _visual(text: str) -> str:
    """Joined, reordered, without characters that draw nothing."""
    text = unicodedata.normalize("NFC", text.translate(_SIGNS))
    if any(unicodedata.bidirectional(each) in ("R", "AL", "AN") for each in text):
        from fpdf.bidi import BidiParagraph

        text = BidiParagraph(text=_joined(text)).get_reordered_string()
    return "".join(each for each in text if not _invisible(each))


def _invisible(letter: str) -> bool:
    return unicodedata.category(letter) == "Cf" or "\ufe00" <= letter <= "\ufe0f"


@cache
def _forms() -> dict[str, dict[str, str]]:
    """The initial, medial, final and isolated forms of Arabic letters and of lam with alef."""
    letters_by_form: dict[str, dict[str, str]] = {}
    for code in (*range(0xFB50, 0xFBB2), *range(0xFE80, 0xFEFD)):
        tag, *base = unicodedata.decomposition(chr(code)).split() or [""]
        letters = "".join(chr(int(each, 16)) for each in base)
        if tag.strip("<>") in ("initial", "medial", "final", "isolated"):
            letters_by_form.setdefault(letters, {})[tag.strip("<>")] = chr(code)
    return letters_by_form


def _joined(text: str) -> str:
    """Arabic letters in the forms they take beside each other."""
    forms = _forms()
    letters: list[str] = []
    for each in text:
        if letters and letters[-1] + each in forms and len(letters[-1]) == 1:
            letters[-1] += each  # lam with alef
        else:
            letters.append(each)
    joined = []
    for i, letter in enumerate(letters):
        before = _leans_on(letters[:i][::-1], "initial")
        after = _leans_on(letters[i + 1 :], "final")
        form = {
            (True, True): "medial",
            (True, False): "final",
            (False, True): "initial",
            (False, False): "isolated",
        }[before and "final" in forms.get(letter, {}), after and "initial" in forms.get(letter, {})]
        joined.append(forms.get(letter, {}).get(form, letter))
    return "".join(joined)


def _leans_on(neighbours: list[str], form: str) -> bool:
    """Whether the nearest letter, marks aside, joins in the direction that a form tells."""
    for each in neighbours:
        if unicodedata.combining(each[-1]):
            continue
        return each in (TATWEEL, ZERO_WIDTH_JOINER) or form in _forms().get(each, {})
    return False
