"""Text as it is drawn: visible, joined, in visual order, within its width."""

import pytest
from PIL import ImageFont

from viz.drawing.letters import BUNDLED, code_points, fitted, runs, visible, width, wrapped


def drawn(text: str) -> str:
    return "".join(run for _, run in runs(text))


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ("it", "it"),
        (" ", "␣"),
        ("", "∅"),
        ("a\r\nb\t", "a↵b⇥"),
        ("\x00\x1b", "␀␛"),
        ("\ud800", "�"),
    ],
)
def test_everything_is_visible(label: str, expected: str) -> None:
    assert visible(label) == expected


def test_widths_are_those_of_the_font() -> None:
    text, size = "Attention ∑ Привет ß", 100
    font = ImageFont.truetype(BUNDLED, size, layout_engine=ImageFont.Layout.BASIC)
    without_kerning = sum(font.getlength(letter) for letter in text)
    assert width(text, size) == pytest.approx(without_kerning, abs=len(text))  # pixels are whole


def test_hebrew_is_reversed_and_latin_is_not() -> None:
    assert drawn("שלום") == "םולש"
    assert drawn("say שלום!") == "say םולש!"


def test_arabic_letters_take_their_forms() -> None:
    # سلام: initial seen, then medial lam with alef as one letter, then isolated meem; from the left
    assert drawn("سلام") == "ﻡﻼﺳ"
    assert drawn("بيت") == "ﺖﻴﺑ"


def test_letters_without_a_font_become_code_points() -> None:
    assert drawn("\U0010fffd") == "[U+10FFFD]"
    assert code_points("a\U0010fffd")
    assert not code_points("déjà ✓ 😀 שלום عالم")


def test_what_draws_nothing_is_left_out() -> None:
    assert drawn("a\u200d\ufe0f\u202eb") == "ab"


def test_fitted_keeps_to_its_width() -> None:
    short = fitted("unbelievable", 10, 40)
    assert short.endswith("…")
    assert width(short, 10) <= 40 < width("unbelievable", 10)
    assert fitted("it", 10, 40) == "it"
    assert fitted("ee\u0301eeeeee", 10, width("e…", 10) + 1)[-2:] == "e…"


def test_wrapped_lines_hold_every_word() -> None:
    text = "a line of words and " + "x" * 100
    lines = wrapped(text, 8, 120)
    assert all(width(line, 8) <= 120 for line in lines)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")
